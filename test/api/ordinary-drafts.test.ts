import assert from 'node:assert/strict';
import type { DraftResponse } from '../../shared/schemas/drafts.ts';
import { signUp } from '../support/account.ts';
import { useSystem } from '../support/system.ts';

/** Drafts of mail and chat, each with what may follow at `|`: any of the words between `/`. */
const DRAFTS = {
  English: `
    Hi Anna, thank you for y|our
    Could you please sen|d/d me
    I will be there in ten mi|nutes
    Yes, please run the te|sts/st
    I look forw|ard/ard to
    Thanks for the quick rep|ly
    I think we sho|uld
    Shall we go for lu|nch
    Hope you are do|ing/ing well
    The meet|ing`,
  German: `
    Hallo Anna, vielen Da|nk/nk für
    Könntest du mir bi|tte
    Ich bin in zehn Min|uten/uten da
    Ja, bitte führe die Te|sts/sts aus
    Wir treffen uns am Mo|ntag
    Danke für die schn|elle/elle Antwort
    Mit freundlichen Gr|üßen
    Ich denke, wir soll|ten
    Sollen wir uns mor|gen
    Das ist kein Prob|lem`,
  French: `
    Bonjour Anna, merci beau|coup/coup pour
    Pourriez-vous m|e dire/'envoyer/'aider
    Je serai là dans dix min|utes
    Oui, relance les te|sts
    On se voit dem|ain
    Merci beaucoup pour v|otre
    La réu|nion
    Je pense que n|ous
    Je ne sais p|as
    Bonne jour|née`,
  Spanish: `
    Hola Ana, muchas gra|cias/cias por
    ¿Podrías ayu|darme
    Estaré allí en diez mi|nutos
    Sí, por fav|or
    Nos vemos mañ|ana
    Gracias por la resp|uesta
    La reu|nión
    Creo que deb|eríamos/emos
    Por favor resu|me/me el
    Me gustaría sa|ber`,
};
const SUGGESTED_MIN = 6;

describe('ordinary drafts of a newcomer', () => {
  const system = useSystem({ env: { DEFAULT_MODEL: 'local', SUPPORTED_MODELS: 'local' } });

  for (const [language, drafts] of Object.entries(DRAFTS))
    it(`of ten ${language} drafts of somebody of whom nothing is known, six get a suggestion, and none a wrong one`, async () => {
      const ann = await signUp(system);
      const lines = drafts.trim().split(/\n\s*/);
      const answers = await Promise.all(
        lines.map(async (line) => {
          const [draft = '', following = ''] = line.split('|');
          const { body } = await ann.post<DraftResponse>('/api/predictions/draft/', { draft });
          assert.ok(['', ...following.split('/')].includes(body.completion), `${draft}|${body.completion}`);
          return body.completion;
        }),
      );
      assert.ok(answers.filter((completion) => completion !== '').length >= SUGGESTED_MIN, answers.join('|'));
    });
});
