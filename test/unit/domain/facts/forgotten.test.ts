import assert from 'node:assert/strict';
import { forgottenForms, lookedUpForms } from '../../../../shared/domain/facts/forgotten.ts';

function isForgotten(forgotten: string, text: string): boolean {
  const forms = new Set(forgottenForms({ text: forgotten, slot: null }));
  return lookedUpForms({ text, slot: null }).some((form) => forms.has(form));
}

describe('forgotten statements', () => {
  it('a forgotten statement is recognised in another spelling, a longer sentence and in four languages', () => {
    for (const [forgotten, ...others] of [
      [
        'I live in Vienna.',
        'I LIVE IN VIÉNNA',
        'I live in Vienna, Austria.',
        'My home is Vienna.',
        'I live in Vienna since 2019.',
      ],
      [
        'Ich wohne in Wien.',
        'Ich lebe in Wien.',
        'Ich wohne in Wien, Österreich.',
        'Ich wohne seit 2019 in Wien.',
      ],
      ['Ich heiße Jörg.', 'Mein Name ist Jörg.', 'ich heisse Jorg'],
      ['J’habite à Lyon.', 'Je vis à Lyon.', 'J’habite à Lyon, en France.'],
      ['Vivo en Sevilla.', 'Yo vivo en Sevilla.', 'Vivo en Sevilla, España.'],
      ['My phone number is 555 1234.', 'My phone number is 5551234.', 'My phone number is 555-1234.'],
    ] as const)
      for (const other of others) assert.ok(isForgotten(forgotten, other), `${forgotten} ${other}`);
  });

  it('what only resembles a forgotten statement is not forgotten with it', () => {
    for (const [forgotten, ...others] of [
      [
        'I live in Vienna.',
        'I live in Graz.',
        'I work in Vienna.',
        'I love Vienna.',
        'I do not live in Vienna.',
      ],
      ['Ich wohne in Wien.', 'Ich wohne in Graz.', 'Ich arbeite in Wien.', 'Ich wohne nicht in Wien.'],
      ['J’habite à Lyon.', 'Je travaille à Lyon.', 'J’aime Lyon.'],
      ['Vivo en Sevilla.', 'Trabajo en Sevilla.', 'No vivo en Sevilla.'],
      ['My phone number is 555 1234.', 'My phone number is 555 1235.'],
      ['I use Node 1.5.', 'I use Node 15.'],
    ] as const)
      for (const other of others) assert.ok(!isForgotten(forgotten, other), `${forgotten} ${other}`);
  });
});
