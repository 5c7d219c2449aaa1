import assert from 'node:assert/strict';
import fc from 'fast-check';
import Type from 'typebox';
import { closedObject, text, withDefault } from '../../../shared/schemas/build.ts';
import { type Fault, ValidationErrorBody } from '../../../shared/schemas/errors.ts';
import { PredictionRequest } from '../../../shared/schemas/predictions.ts';
import { compile } from '../../../shared/schemas/validator.ts';

const check = compile(PredictionRequest);
const checkErrorBody = compile(ValidationErrorBody);

const MINIMAL_REQUEST = {
  request_id: 'r-1',
  user_id: 'u',
  session_id: 's',
  mode: 'complete_draft',
  draft: { text: '', revision: 0 },
  context_revision: 'c',
};

/** Also asserts that the errors have the published format. */
function faultsOf(json: string, validate: (value: unknown) => ReturnType<typeof check> = check): Fault[] {
  const result = validate(JSON.parse(json));
  assert.equal(result.ok, false, 'expected faults');
  const faults = result.ok ? [] : result.faults;
  assert.deepEqual(checkErrorBody({ detail: faults }), { ok: true, value: { detail: faults } });
  return faults;
}

/** Replaces fields of the minimal request by JSON text, or leaves them out if undefined. */
function faultsWith(fields: Record<string, string | undefined>): Fault[] {
  const parts = Object.entries(MINIMAL_REQUEST)
    .filter(([name]) => !(name in fields))
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  for (const [name, json] of Object.entries(fields))
    if (json !== undefined) parts.push(`${JSON.stringify(name)}:${json}`);
  return faultsOf(`{${parts.join(',')}}`);
}

function soleFault(faults: Fault[]): Omit<Fault, 'msg'> {
  assert.equal(faults.length, 1, JSON.stringify(faults));
  const { msg, ...rest } = faults[0] as Fault;
  assert.ok(msg.length > 0);
  return rest;
}

describe('valid request', () => {
  it('the validator returns a valid request with its defaults filled in', () => {
    assert.deepEqual(check(structuredClone(MINIMAL_REQUEST)), {
      ok: true,
      value: {
        ...MINIMAL_REQUEST,
        artifact: null,
        connection_id: null,
        language: 'auto',
        messages: [],
        user_preferences: '',
      },
    });
  });

  it('the validator also fills in the defaults of the objects inside a valid request', () => {
    const result = check({
      ...MINIMAL_REQUEST,
      messages: [{ role: 'user', content: 'hi' }],
      artifact: { kind: 'video', id: 'a', revision: '1' },
    });
    assert.ok(result.ok);
    assert.deepEqual(result.value.messages, [{ role: 'user', content: 'hi', origin: 'unknown' }]);
    assert.deepEqual(result.value.artifact, {
      kind: 'video',
      id: 'a',
      revision: '1',
      selection: '',
      summary: '',
    });
  });

  it('the validator gives each valid request its own copies of the defaults', () => {
    const [first, second] = [
      check(structuredClone(MINIMAL_REQUEST)),
      check(structuredClone(MINIMAL_REQUEST)),
    ];
    assert.ok(first.ok && second.ok);
    first.value.messages.push({ role: 'user', content: 'x', origin: 'human' });
    assert.deepEqual(second.value.messages, []);
  });

  it('an integer field accepts 1.0 and 1e3, and values up to 2^53-1', () => {
    for (const revision of ['1.0', '1e3', '-0', '9007199254740991'])
      assert.ok(
        check({ ...MINIMAL_REQUEST, draft: { text: '', revision: JSON.parse(revision) } }).ok,
        revision,
      );
  });

  it('a text field of at most 8000 characters accepts 8000 emoji, since lengths count code points', () => {
    assert.ok(check({ ...MINIMAL_REQUEST, draft: { text: '😀'.repeat(8000), revision: 0 } }).ok);
  });
});

describe('validation error', () => {
  it('a missing field gives a validation error of the type missing, located at the field', () => {
    assert.deepEqual(soleFault(faultsWith({ request_id: undefined })), {
      loc: ['body', 'request_id'],
      type: 'missing',
    });
    assert.deepEqual(soleFault(faultsWith({ draft: '{"revision":1}' })), {
      loc: ['body', 'draft', 'text'],
      type: 'missing',
    });
  });

  it('an unknown property gives a validation error of the type extra_forbidden, located at the property', () => {
    assert.deepEqual(soleFault(faultsWith({ 'a/b~0': '7' })), {
      loc: ['body', 'a/b~0'],
      type: 'extra_forbidden',
      input: 7,
    });
  });

  it("the location of a validation error shows at most 200 characters of a property's name", () => {
    const [name, secret] = ['x'.repeat(1e6), `${'y'.repeat(1e6)}password`];
    const faults = faultsWith({ [name]: '7', [secret]: '"hunter2"', ['😀'.repeat(1e6)]: '8' });
    assert.deepEqual(
      faults.map(({ loc: [, shown], input }) => [shown, input]),
      [
        ['x'.repeat(200), 7],
        ['y'.repeat(200), undefined],
        ['😀'.repeat(200), 8],
      ],
    );
  });

  it('a value of the wrong type, including null, gives a validation error that names the expected type', () => {
    const types: [Record<string, string>, (string | number)[], string][] = [
      [{ user_id: '5' }, ['user_id'], 'string_type'],
      [{ user_id: 'null' }, ['user_id'], 'string_type'],
      [{ draft: '"x"' }, ['draft'], 'dict_type'],
      [{ draft: 'null' }, ['draft'], 'dict_type'],
      [{ draft: '[]' }, ['draft'], 'dict_type'],
      [{ messages: '{}' }, ['messages'], 'list_type'],
      [{ messages: 'null' }, ['messages'], 'list_type'],
      [{ messages: '[{"role":"user","content":"x"},3]' }, ['messages', 1], 'dict_type'],
      [{ language: 'null' }, ['language'], 'string_type'],
      [{ connection_id: '5' }, ['connection_id'], 'string_type'],
      [{ artifact: '5' }, ['artifact'], 'dict_type'],
    ];
    for (const [fields, loc, type] of types) {
      const fault = soleFault(faultsWith(fields));
      assert.deepEqual([fault.loc, fault.type], [['body', ...loc], type], JSON.stringify(fields));
    }
  });

  it('strings, booleans, fractions, null and infinity are never coerced to an integer', () => {
    for (const revision of ['"1"', 'true', '1.5', 'null', '1e400', '-1e400'])
      assert.equal(
        soleFault(faultsWith({ draft: `{"text":"","revision":${revision}}` })).type,
        'int_type',
        revision,
      );
  });

  it('a number outside its bounds gives a validation error that states the bound', () => {
    const revision = (json: string) => soleFault(faultsWith({ draft: `{"text":"","revision":${json}}` }));
    const loc = ['body', 'draft', 'revision'];
    assert.deepEqual(revision('-1'), { loc, type: 'greater_than_equal', ctx: { ge: 0 }, input: -1 });
    assert.deepEqual(revision('1e20'), {
      loc,
      type: 'less_than_equal',
      ctx: { le: Number.MAX_SAFE_INTEGER },
      input: 1e20,
    });
    assert.equal(revision('9007199254740992').type, 'less_than_equal');
  });

  it('a text or list of the wrong length gives a validation error that states the bound', () => {
    assert.deepEqual(soleFault(faultsWith({ user_id: '""' })), {
      loc: ['body', 'user_id'],
      type: 'string_too_short',
      ctx: { min_length: 1 },
      input: '',
    });
    assert.deepEqual(
      soleFault(faultsWith({ draft: JSON.stringify({ text: 'x'.repeat(8001), revision: 0 }) })),
      {
        loc: ['body', 'draft', 'text'],
        type: 'string_too_long',
        ctx: { max_length: 8000 },
      },
    );
    const messages = JSON.stringify(Array(31).fill({ role: 'user', content: '' }));
    assert.deepEqual(soleFault(faultsWith({ messages })), {
      loc: ['body', 'messages'],
      type: 'too_long',
      ctx: { max_length: 30 },
    });
  });

  it("a value that is not in its field's enum gives a validation error that states the expected values", () => {
    assert.deepEqual(soleFault(faultsWith({ mode: '"guess"' })), {
      loc: ['body', 'mode'],
      type: 'enum',
      ctx: { expected: ['complete_draft', 'next_prompt'] },
      input: 'guess',
    });
  });

  it('text with NUL or a lone surrogate gives a validation error, in fields of the body and of its messages', () => {
    for (const bad of ['"a\\u0000"', '"\\ud800"', '"\\udc00\\ud800"']) {
      assert.equal(soleFault(faultsWith({ user_id: bad })).type, 'value_error');
      assert.equal(soleFault(faultsWith({ user_preferences: bad })).type, 'value_error');
      const messages = `[{"role":"user","content":${bad}}]`;
      assert.deepEqual(soleFault(faultsWith({ messages })).loc, ['body', 'messages', 0, 'content']);
    }
    assert.ok(check({ ...MINIMAL_REQUEST, user_id: '\u{1f600}' }).ok, 'a surrogate pair is valid text');
  });

  it('a body that is not an object gives a validation error of the type dict_type, located at the body', () => {
    for (const body of ['[]', '"x"', 'null', '3', 'true'])
      assert.deepEqual(
        [soleFault(faultsOf(body)).loc, soleFault(faultsOf(body)).type],
        [['body'], 'dict_type'],
        body,
      );
  });

  it('validation errors inside an artifact are located at the fields of the artifact', () => {
    const artifact = '{"kind":"film","id":"","revision":"1","extra":1,"summary":null}';
    assert.deepEqual(
      faultsWith({ artifact })
        .map(({ loc, type }) => [loc.slice(1).join('.'), type])
        .sort(),
      [
        ['artifact.extra', 'extra_forbidden'],
        ['artifact.id', 'string_too_short'],
        ['artifact.kind', 'enum'],
        ['artifact.summary', 'string_type'],
      ],
    );
  });

  it('the location of a validation error begins with the name that was given to `compile`, such as query', () => {
    const limit = Type.Object({ limit: Type.Optional(Type.String({ pattern: '^\\d{1,6}$' })) });
    const result = compile(limit, 'query')({ limit: ['1', '2'], other: 'x' });
    assert.ok(!result.ok);
    assert.deepEqual([result.faults[0]?.loc, result.faults[0]?.type], [['query', 'limit'], 'string_type']);
  });
});

describe('list of validation errors', () => {
  it('an invalid field gets one validation error, even if its value breaks several rules', () => {
    const loc = ['body', 'request_id'];
    assert.deepEqual(soleFault(faultsWith({ request_id: JSON.stringify('é'.repeat(81)) })), {
      loc,
      type: 'string_too_long',
      ctx: { max_length: 80 },
      input: 'é'.repeat(81),
    });
    assert.deepEqual(soleFault(faultsWith({ request_id: '""' })).type, 'string_too_short');
    assert.deepEqual(soleFault(faultsWith({ connection_id: '"a b"' })).type, 'string_pattern_mismatch');
    const bounded = compile(closedObject({ n: Type.Integer({ minimum: 0, maximum: 5 }) }));
    const result = bounded({ n: -1.5 });
    assert.deepEqual(result.ok || result.faults.map(({ type }) => type), ['int_type']);
    const optional = compile(
      closedObject({ kind: Type.Unsafe({ type: ['string', 'null'], enum: ['a', null] }) }),
    );
    const wrong = optional({ kind: 5 });
    assert.deepEqual(wrong.ok || wrong.faults.map(({ type }) => type), ['string_type']);
    const unknown = optional({ kind: 'b' });
    assert.deepEqual(unknown.ok || unknown.faults.map(({ msg }) => msg), ['Input should be one of a, null']);
  });

  it('the validation errors of an empty body name every required field', () => {
    assert.deepEqual(
      faultsOf('{}').map(({ loc }) => loc[1]),
      ['request_id', 'user_id', 'session_id', 'mode', 'draft', 'context_revision'],
    );
  });

  it('a body gets at most 100 validation errors', () => {
    const messages = JSON.stringify(Array(200).fill({}));
    assert.equal(faultsWith({ messages }).length, 100);
  });

  it('a body never gets two validation errors for one field', () => {
    fc.assert(
      fc.property(
        fc.record(Object.fromEntries(Object.keys(MINIMAL_REQUEST).map((k) => [k, fc.jsonValue()]))),
        (body) => {
          const result = check(body);
          if (result.ok) return;
          const places = result.faults.map(({ loc }) => JSON.stringify(loc));
          assert.equal(new Set(places).size, places.length);
          assert.ok(checkErrorBody({ detail: result.faults }).ok);
        },
      ),
    );
  });
});

describe('input of a validation error', () => {
  it("a validation error's input is the scalar that was sent, if it has at most 200 characters", () => {
    for (const character of ['x', '😀'])
      assert.equal(
        soleFault(faultsWith({ mode: JSON.stringify(character.repeat(200)) })).input,
        character.repeat(200),
      );
    assert.ok(!('input' in soleFault(faultsWith({ mode: JSON.stringify('x'.repeat(201)) }))));
    assert.equal(soleFault(faultsWith({ user_id: 'false' })).input, false);
    assert.equal(soleFault(faultsWith({ user_id: 'null' })).input, null);
  });

  it("a validation error's input is left out for objects, lists, missing fields and infinity", () => {
    assert.ok(!('input' in soleFault(faultsWith({ user_id: '{"a":1}' }))));
    assert.ok(!('input' in soleFault(faultsWith({ user_id: '[]' }))));
    assert.ok(!('input' in soleFault(faultsWith({ user_id: undefined }))));
    assert.ok(
      !('input' in soleFault(faultsWith({ draft: '{"text":"","revision":1e400}' }))),
      'JSON has no infinity',
    );
  });

  it("a validation error's input never shows a default that the client did not send", () => {
    const faults = faultsWith({ user_id: undefined, artifact: '{"id":"a"}', messages: '[{"content":5}]' });
    assert.deepEqual(
      faults.filter((fault) => 'input' in fault).map(({ input }) => input),
      [5],
    );
  });

  it("a validation error's input never shows a password, code or token, in a known or an unknown field", () => {
    const names = [
      'password',
      'current_password',
      'code',
      'code_verifier',
      'refresh',
      'access',
      'key',
      'token',
      'apiKey',
    ];
    for (const name of names) {
      const known = compile(closedObject({ [name]: text(5) }))({ [name]: 'secret-value' });
      assert.ok(!known.ok && !JSON.stringify(known.faults).includes('secret-value'), name);
      assert.ok(!JSON.stringify(faultsWith({ [name]: '"secret-value"' })).includes('secret-value'), name);
    }
  });
});

describe('key __proto__', () => {
  it('the key __proto__ is refused as an unknown property, and does not change Object.prototype', () => {
    const before = Reflect.ownKeys(Object.prototype).length;
    assert.deepEqual(soleFault(faultsWith({ ['__proto__']: '{"user_id":"x"}' })), {
      loc: ['body', '__proto__'],
      type: 'extra_forbidden',
    });
    assert.equal(Reflect.ownKeys(Object.prototype).length, before);
  });

  it('the key __proto__ supplies no missing field and prevents no default', () => {
    const faults = faultsOf(
      '{"__proto__":{"user_id":"x","language":"de"},"draft":{"__proto__":{"text":"x"}}}',
    );
    const places = faults.map(({ loc, type }) => `${loc.slice(1).join('.')} ${type}`);
    assert.ok(places.includes('user_id missing'));
    assert.ok(places.includes('draft.text missing'));
    assert.ok(places.includes('draft.__proto__ extra_forbidden'));
    const filled = JSON.parse('{"__proto__":{"a":"x"}}');
    compile(closedObject({ a: withDefault(text(9), 'default') }))(filled);
    assert.equal(filled.a, 'default');
  });
});
