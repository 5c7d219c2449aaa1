import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { generatedFiles } from '../../client/generate.ts';

describe("clients' types", () => {
  for (const [language, { folder, files }] of Object.entries(generatedFiles)) {
    const url = new URL(`../../client/${folder}`, import.meta.url);
    const expected = files();

    it(`the generated files of the client in ${language} are exactly those that the generator writes`, () => {
      const names = readdirSync(url).filter((name) => name !== '__pycache__');
      assert.deepEqual(names.sort(), Object.keys(expected).sort());
    });

    for (const [name, text] of Object.entries(expected))
      it(`the generated file ${name} of the client in ${language} is up to date with the OpenAPI document (if not: npm run openapi)`, () => {
        assert.equal(readFileSync(new URL(name, url), 'utf8'), text);
      });
  }
});
