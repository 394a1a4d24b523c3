import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkErrorCodes } from './error-codes.ts';

const catalog = {
  path: 'operators/redis/src/api/errors.ts',
  text: 'export const e = {\n  REDIS_AUTH: {\n  },\n} satisfies ErrorCatalog;',
};
const findings = { path: 'operators/redis/src/api/findings.ts', text: "type FindingCode = 'SLOT_OPEN';" };
const source = (text: string) => ({ path: 'operators/redis/src/plan/x.ts', text });
const check = (text: string) => checkErrorCodes([catalog, findings, source(text)], ['REDIS_AUTH']);

test('declared codes that are used, and findings, pass', () => {
  assert.deepEqual(check("throw new ReeveError('REDIS_AUTH', m); push({ code: 'SLOT_OPEN' });"), []);
});

test('a code that nobody declared is found, however it is used', () => {
  for (const use of [
    "{ code: 'NOT_THERE', m }",
    "failed('NOT_THERE', m)",
    "new ReeveError(\n 'NOT_THERE')",
    "refused('NOT_THERE')",
  ]) {
    assert.match(check(`'REDIS_AUTH';\n${use}`).join(), /x\.ts:2: NOT_THERE is declared in no catalog/);
  }
});

test('a code that nobody uses is found', () => {
  assert.deepEqual(check('const x = 1;'), ['operators/redis/src/api/errors.ts: REDIS_AUTH is never used']);
});
