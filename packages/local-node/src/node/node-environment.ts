/** What the keepers of pods share: the node they are on, and the machine below it. */
import type { Clock } from '@reeve/runtime';
import type { Driver, Entrance } from '../driver/driver.ts';
import type { Host } from '../host/host.ts';
import type { Images } from '../image/images.ts';
import type { Runs } from '../shim/runs.ts';
import type { AddressPool } from './addresses.ts';
import type { NodeFacts } from './facts.ts';

export interface NodeEnvironment {
  readonly clock: Clock;
  readonly host: Host;
  readonly runs: Runs;
  /** For what begins now; runs of before may have been begun with another one. */
  readonly driver: Driver;
  entranceOf(driver: string): Entrance;
  /** What a person would do to get namespaces on this machine. */
  readonly sandboxRemedy: string;
  /** What a person would do to let pods have more host paths. */
  readonly hostPathRemedy: string | undefined;
  readonly images: Images;
  readonly addresses: AddressPool;
  readonly facts: NodeFacts;
  /** Where volumes that were made for claims have their folders. */
  readonly claimRoot: string | undefined;
  /** Lines of `/etc/hosts` for pods of this namespace. */
  names(namespace: string): readonly string[];
  /** The pod of this key is to be looked at. */
  wake(key: string): void;
}
