/** Into boxes of every driver: what made one may be gone by now, and what is in it goes on, is probed and is asked to end. */
import { ReeveError } from '@reeve/runtime';
import type { Host } from '../host/host.ts';
import { bwrapDriver } from './bwrap.ts';
import type { Entrance } from './driver.ts';
import { plainDriver } from './plain.ts';
import { unshareDriver } from './unshare.ts';

export function entrances(host: Host): (driver: string) => Entrance {
  const all = [bwrapDriver(host, 'bwrap'), unshareDriver(host), plainDriver];
  return (driver) => {
    const found = all.find(({ name }) => name === driver);
    if (found) return found;
    throw new ReeveError('NODE_DRIVER', `a container was begun with the driver ${driver}, which is not known here`);
  };
}
