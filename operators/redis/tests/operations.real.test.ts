import { after, before, describe, test } from 'node:test';
import type { Product } from './operations/driver.ts';
import { RealDriver } from './operations/real-driver.ts';
import { casesOf } from './operations.ts';

for (const product of ['valkey', 'redis'] as const satisfies readonly Product[]) {
  describe(`operations on real ${product} servers`, () => {
    for (const shape of ['fresh', 'cluster'] as const) {
      describe(shape, () => {
        let driver: RealDriver;
        before(async () => {
          driver = await RealDriver.start(product, shape);
        });
        after(() => driver.stop());
        for (const operation of casesOf(product, shape)) {
          test(operation.name, async () => {
            await driver.renew();
            await operation.run(driver);
          });
        }
      });
    }
    for (const operation of casesOf(product, 'own')) {
      test(operation.name, async () => {
        const driver = await RealDriver.start(product, 'own');
        try {
          await operation.run(driver);
        } finally {
          await driver.stop();
        }
      });
    }
  });
}
