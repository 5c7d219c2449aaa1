import assert from 'node:assert/strict';
import { assertPublished, type Received, takeUnpublished } from '../support/client-contract.ts';

const USAGE_ANSWER = {
  method: 'GET',
  url: 'http://localhost/v1/usage',
  status: 200,
  type: 'application/json',
};
const code = (name: string) => JSON.stringify({ detail: { code: name } });
const explainedError = (name: string) => JSON.stringify({ detail: { code: name, message: 'A sentence.' } });

describe('published answers', () => {
  // Discards the refused answers, so that they do not fail the test.
  afterEach(() => takeUnpublished());

  const cases: Record<string, Partial<Received> & { text: string }> = {
    'a status that the operation does not have': { status: 403, text: code('access_denied') },
    'a code that the status does not have': { status: 401, text: code('not_authenticated') },
    'a body that the schema does not accept': { text: '{}' },
    'another content type': { type: 'text/plain', text: '{}' },
    'an internal error': { status: 500, text: code('internal_error') },
    'a body with a status that has none': {
      method: 'DELETE',
      url: 'http://localhost/api/auth/me/',
      status: 204,
      text: '{}',
    },
    'a line of a stream that the schema does not accept': {
      url: 'http://localhost/api/export/',
      type: 'application/x-ndjson',
      text: '{"type":"fact","data":{}}\n{"type":"fact"}\n',
    },
    'an error of /api without a message': {
      url: 'http://localhost/api/x/',
      status: 404,
      text: code('not_found'),
    },
    'an answer where there is no operation': { url: 'http://localhost/v1/x', text: '{}' },
    'a status other than 405 for a method that the path does not have': { method: 'PUT', text: '{}' },
  };
  for (const [name, part] of Object.entries(cases))
    it(`assertPublished refuses an answer that the OpenAPI document does not list: ${name}`, () => {
      assert.throws(() => assertPublished({ ...USAGE_ANSWER, ...part }), { name: 'AssertionError' });
      assert.equal(takeUnpublished().length, 1);
    });

  it('assertPublished accepts listed answers of an operation, and listed errors of routing and of the HTTP server', () => {
    assertPublished({ ...USAGE_ANSWER, status: 400, text: code('invalid_month') });
    assertPublished({ ...USAGE_ANSWER, url: 'http://localhost/v1/x', status: 404, text: code('not_found') });
    assertPublished({ ...USAGE_ANSWER, method: 'PUT', status: 405, text: code('method_not_allowed') });
    assertPublished({ ...USAGE_ANSWER, status: 414, text: code('uri_too_long') });
    const url = 'http://localhost/api/connections';
    assertPublished({ ...USAGE_ANSWER, url, status: 431, text: explainedError('headers_too_large') });
    assertPublished({ ...USAGE_ANSWER, url, text: '{"results":[]}' });
  });
});
