import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { generatedFiles } from '../../client/generate.ts';

const FOLDER = new URL('../../client/src/generated/', import.meta.url);

describe("client's types", () => {
  const files = generatedFiles();

  it("the client's generated types are exactly the files that the generator writes", () => {
    assert.deepEqual(readdirSync(FOLDER).sort(), Object.keys(files).sort());
  });

  for (const [name, text] of Object.entries(files))
    it(`the client's generated file ${name} is up to date with the OpenAPI document (if not: npm run openapi)`, () => {
      assert.equal(readFileSync(new URL(name, FOLDER), 'utf8'), text);
    });
});
