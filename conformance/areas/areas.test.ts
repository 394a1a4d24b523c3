import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areas } from './index.ts';

/** How many cases an area has at least: fewer, and what is called conformance would be a sample. */
const least: Readonly<Record<string, number>> = {
  watch: 40,
  apply: 60,
  patch: 30,
  /** Deletion, finalizers and what is collected. */
  deletion: 20,
  /** Definitions, schemas and expressions. */
  custom: 60,
  /** Roles and admission policies. */
  access: 30,
};

for (const [name, count] of Object.entries(least)) {
  test(`the area ${name} has at least ${count} cases`, () => {
    const found = areas.filter((area) => area.name === name).flatMap(({ cases }) => cases);
    assert.ok(found.length >= count, `${found.length}`);
  });
}

test('every case has steps, and a name that no other of its area has', () => {
  for (const { name, cases } of areas) {
    assert.equal(new Set(cases.map((one) => one.name)).size, cases.length, name);
    for (const one of cases) assert.ok(one.steps.length > 0, `${name}: ${one.name}`);
  }
});
