import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Product } from './operations/driver.ts';
import { ModelDriver } from './operations/model-driver.ts';
import { casesOf, operationCases } from './operations.ts';

test('there are at least sixty operation cases', () => {
  assert.ok(operationCases.length >= 60, `${operationCases.length}`);
});

for (const product of ['valkey', 'redis'] as const satisfies readonly Product[]) {
  describe(`operations on the model of ${product}`, () => {
    for (const shape of ['fresh', 'cluster', 'own'] as const) {
      for (const [index, operation] of casesOf(product, shape).entries()) {
        test(operation.name, async () => {
          const driver = new ModelDriver(product, index + 1);
          await driver.prepare(shape);
          await operation.run(driver);
        });
      }
    }
    test('all cases of a formed cluster, one after the other on one', async () => {
      const driver = new ModelDriver(product, 77);
      await driver.prepare('cluster');
      for (const operation of casesOf(product, 'cluster')) await operation.run(driver);
    });
  });
}
