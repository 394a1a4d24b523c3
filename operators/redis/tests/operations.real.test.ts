import { after, describe, test } from 'node:test';
import type { Product } from './operations/driver.ts';
import { RealDriver } from './operations/real-driver.ts';
import { casesOf } from './operations.ts';

for (const product of ['valkey', 'redis'] as const satisfies readonly Product[]) {
  describe(`operations on real ${product} servers`, () => {
    for (const shape of ['fresh', 'cluster'] as const) {
      describe(shape, () => {
        let shared: RealDriver | undefined;
        after(() => shared?.stop());
        for (const operation of casesOf(product, shape)) {
          test(operation.name, async () => {
            const driver = shared ?? (await RealDriver.start(product, shape));
            // Whatever a failed case leaves behind must not make the others fail.
            shared = undefined;
            try {
              await driver.renew();
              await operation.run(driver);
              shared = driver;
            } finally {
              if (!shared) await driver.stop();
            }
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
