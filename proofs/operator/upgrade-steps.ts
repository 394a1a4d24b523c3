/** From one version of a product to another, both of the catalog, while clients write: who is replaced when, and as what. */
import assert from 'node:assert/strict';
import { tryToKill } from '@reeve/cli/plane-testing';
import { type Access, once, type Product, until } from '@reeve/rig';
import type { PodOnSite } from '../site/kinds.ts';
import { endpointOf, PATIENCE_MS, type Site } from '../site/site.ts';
import { mainSpec, type Stage, type Step } from './stage.ts';
import type { Declaration } from './subject.ts';

interface Versions {
  readonly from: string;
  readonly to: string;
}

type ByProduct = Readonly<Record<Product, Versions>>;

const REDIS: Versions = { from: '7.0.15', to: '8.0.2' };
const PLAIN: ByProduct = { valkey: { from: '9.0.0', to: '9.1.2' }, redis: REDIS };
/** Builds with TLS. */
export const WITH_TLS: ByProduct = { valkey: { from: '8.0.1', to: '8.1.1' }, redis: REDIS };

/** A server in its own words. */
interface Word {
  readonly pod: string;
  readonly role: string;
  readonly version: string;
  /** Of a replica, to its primary: `up` or `down`. */
  readonly link: string | undefined;
}

interface Look {
  readonly pod: PodOnSite;
  readonly word: Word;
}

/** Follows an upgrade: which server went when, and what it had said of itself last. */
class Course {
  readonly gone: Word[] = [];
  readonly #stage: Stage;
  readonly #standing = new Map<string, Word>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Those that answer. */
  async look(): Promise<readonly Look[]> {
    const { site, subject } = this.#stage;
    const all = await site.podsOf(subject.name);
    const standing = all.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    for (const [uid, word] of this.#standing) {
      if (standing.some(({ metadata }) => metadata.uid === uid)) continue;
      this.gone.push(word);
      this.#standing.delete(uid);
    }
    const access = { ...(await subject.access()), connectTimeoutMs: 3_000 };
    const found: Look[] = [];
    for (const pod of standing) {
      const word = await ask(pod, access);
      if (!word) continue; // on its way
      this.#standing.set(pod.metadata.uid, word);
      found.push({ pod, word });
    }
    return found;
  }
}

async function ask({ metadata, status }: PodOnSite, access: Access): Promise<Word | undefined> {
  if (!status?.podIP) return undefined;
  const info = await once(endpointOf(status.podIP), access, 'INFO').catch(() => undefined);
  if (info === undefined) return undefined;
  const field = (name: string) => new RegExp(`^${name}:(\\S+)`, 'm').exec(String(info))?.[1];
  const version = field('valkey_version') ?? field('redis_version') ?? '';
  return { pod: metadata.name, role: field('role') ?? '', version, link: field('master_link_status') };
}

interface UpgradeOptions {
  readonly versions: ByProduct;
  /** Told of every look. */
  readonly during?: (site: Site, looks: readonly Look[]) => void;
}

/** Replicas first, each primary after one of its new replicas has taken over; and no way back. Returns who went, in what order. */
async function upgrade(stage: Stage, { versions, during }: UpgradeOptions): Promise<readonly Word[]> {
  const { site, subject } = stage;
  const { from, to } = versions[site.product];
  const course = new Course(stage);
  const before = await course.look();
  assert.deepEqual(new Set(before.map(({ word }) => word.version)), new Set([from]));
  const podsOf = (role: string) => before.filter(({ word }) => word.role === role).map(({ word }) => word.pod);
  const task = stage.newName('up');
  await site.task(task, { cluster: subject.name, upgrade: { version: to } });
  const ended = await until(
    `task ${task} has ended`,
    async () => {
      const looks = await course.look();
      during?.(site, looks);
      const status = await site.taskStatus(task);
      return (status.phase === 'Succeeded' || status.phase === 'Failed') && status;
    },
    { timeoutMs: PATIENCE_MS, everyMs: 250 },
  );
  assert.equal(ended.message, `6 pods run ${site.product}:${to}`, JSON.stringify(ended));
  await stage.whole();
  const after = await course.look();
  assert.deepEqual(
    after.map(({ word }) => word.version),
    Array.from({ length: 6 }, () => to),
  );
  assert.equal((await site.status(subject.name)).server, `${site.product} ${to}`);
  const gone = course.gone.map(({ pod }) => pod);
  assert.deepEqual(gone.slice(0, 3).sort(), podsOf('slave').sort(), 'replicas go first');
  assert.deepEqual(gone.slice(3).sort(), podsOf('master').sort(), 'then those who were primaries, each once');
  assert.deepEqual(
    course.gone.filter(({ role, version }) => role !== 'slave' || version !== from),
    [],
    'nobody is taken away while it leads',
  );
  await refusedBack(stage, from);
  await stage.declare({ version: to });
  return course.gone;
}

async function refusedBack(stage: Stage, version: string): Promise<void> {
  const back = stage.newName('back');
  await stage.site.task(back, { cluster: stage.subject.name, upgrade: { version } });
  const refused = await stage.site.taskEnded(back);
  assert.equal(refused.code, 'UPGRADE_OLDER', JSON.stringify(refused));
}

export function upgradeStep(on: Declaration, versions: ByProduct): Step {
  return {
    name: `upgrade of ${on.name} to another version: replicas first, each primary after a failover; back is refused`,
    on,
    isLast: true,
    async run(stage) {
      const gone = await upgrade(stage, { versions });
      assert.ok(
        gone.every(({ link }) => link === 'up'),
        'all were in step with their primaries',
      );
    },
  };
}

const declared = (name: string): Declaration => ({
  name,
  spec: (product) => ({ ...mainSpec, version: PLAIN[product].from, deletionPolicy: 'Delete' }),
});

function created(on: Declaration, products?: readonly Product[]): Step {
  return {
    name: `upgrade of ${on.name}: created in the older version`,
    on,
    isFirst: true,
    ...(products && { products }),
    async run(stage) {
      await stage.declare();
      await stage.whole(3, 'it is created');
    },
  };
}

/** Between its two versions the format of files has changed. */
const SHAKEN: readonly Product[] = ['redis'];

/** The first primary that has handed over dies: it has to be given everything anew, by a server whose files it may not read. */
function accident(on: Declaration): Step {
  return {
    name: `upgrade of ${on.name}: a former primary dies right after its failover, and cannot follow what is newer`,
    on,
    products: SHAKEN,
    kills: true,
    isLast: true,
    async run(stage) {
      const leading = new Set<string>();
      let killed: string | undefined;
      const gone = await upgrade(stage, {
        versions: PLAIN,
        during: (site, looks) => {
          for (const { pod, word } of looks) {
            if (word.role === 'master') leading.add(pod.metadata.uid);
            else if (killed === undefined && leading.has(pod.metadata.uid)) {
              killed = word.pod;
              const server = site.processesOf(pod, { name: 'server', restartCount: 0 });
              assert.ok(server, `${word.pod} runs`);
              tryToKill(server.main);
            }
          }
        },
      });
      assert.deepEqual(
        gone.filter(({ link }) => link !== 'up').map(({ pod }) => pod),
        [killed],
        'one could not follow, and was not waited for',
      );
    },
  };
}

const older = declared('older');
const shaken = declared('shaken');

export const upgradeSteps: readonly Step[] = [
  created(older),
  upgradeStep(older, PLAIN),
  created(shaken, SHAKEN),
  accident(shaken),
];
