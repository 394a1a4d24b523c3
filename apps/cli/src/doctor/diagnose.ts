/** What is known of a machine, and what follows from it for whoever wants to run a control plane on it. */
import type { DriverReport, ImageReport } from '@reeve/local-node';

export interface MachineFacts {
  readonly platform: string;
  readonly nodeVersion: string;
  readonly isRoot: boolean;
  readonly drivers: readonly DriverReport[];
  /** What makes a driver work that does not. */
  readonly sandboxRemedy: string;
  /** Settings of the kernel as they read; undefined: it has none of that name. */
  readonly userNamespaces: {
    readonly most: string | undefined;
    readonly allowed: string | undefined;
    readonly restricted: string | undefined;
  };
  /** Whether it can be listened on; undefined: nobody asked. */
  readonly port: { readonly number: number; readonly state: 'free' | 'in use' | 'denied' } | undefined;
  /** Addresses like 127.1.2.3 can be used without setting them up. */
  readonly hasLoopback: boolean;
  readonly data: {
    readonly path: string;
    /** A control plane answers on it; there is one, and none runs; there is none yet; it cannot be used. */
    readonly state: 'running' | 'there' | 'none' | 'unusable';
    readonly note: string;
    /** Undefined: not known. */
    readonly freeBytes: number | undefined;
  };
  /** Where the shell is on PATH. */
  readonly shell: string | undefined;
  /** What the images of pods stand for here. */
  readonly images: readonly ImageReport[];
}

export interface Finding {
  readonly check: string;
  /** `missing`: without it nothing works. `advice`: without it some things do not. */
  readonly state: 'ok' | 'advice' | 'missing';
  readonly detail: string;
  readonly remedy?: string;
}

const LEAST_NODE = 24;
const LEAST_FREE_BYTES = 200 * 1024 * 1024;
const MIB = 1024 * 1024;

export function diagnose(facts: MachineFacts): readonly Finding[] {
  return [
    ...platform(facts),
    sandbox(facts),
    userNamespaces(facts),
    ...network(facts),
    ...dataFolder(facts),
    shellOf(facts),
    ...facts.images.map(imageOf),
  ];
}

function platform({ platform: name, nodeVersion }: MachineFacts): readonly Finding[] {
  const major = Number.parseInt(nodeVersion, 10);
  return [
    name === 'linux'
      ? { check: 'system', state: 'ok', detail: 'linux' }
      : {
          check: 'system',
          state: 'missing',
          detail: name,
          remedy: 'pods run on Linux only; the rest does elsewhere, too',
        },
    major >= LEAST_NODE
      ? { check: 'node', state: 'ok', detail: nodeVersion }
      : { check: 'node', state: 'missing', detail: nodeVersion, remedy: `install Node ${LEAST_NODE} or newer` },
  ];
}

/** Without namespaces pods run, too, if they take no mounts or can be moved. */
function sandbox({ drivers, sandboxRemedy }: MachineFacts): Finding {
  const working = drivers.filter(({ works }) => works).map(({ name }) => name);
  const notes = drivers.filter(({ works }) => !works).map(({ name, note }) => `${name}: ${note.split('\n', 1)[0]}`);
  const detail = `${working.join(', ')}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`;
  const hasMounts = working.some((name) => name !== 'plain');
  if (hasMounts) return { check: 'drivers', state: 'ok', detail };
  const remedy = `pods with mounts wait unless they are marked relocatable: ${sandboxRemedy}`;
  return { check: 'drivers', state: 'advice', detail, remedy };
}

function userNamespaces({ userNamespaces: found, isRoot, sandboxRemedy, drivers }: MachineFacts): Finding {
  const { most, allowed, restricted } = found;
  const check = 'user namespaces';
  const closed = [
    ...(most === '0' ? ['user.max_user_namespaces is 0'] : []),
    ...(allowed === '0' ? ['kernel.unprivileged_userns_clone is 0'] : []),
    ...(restricted === '1' ? ['kernel.apparmor_restrict_unprivileged_userns is 1'] : []),
  ];
  if (closed.length === 0)
    return { check, state: 'ok', detail: most === undefined ? 'not limited' : `at most ${most}` };
  const works = isRoot || drivers.some(({ name, works: does }) => does && name !== 'plain');
  if (works) return { check, state: 'ok', detail: `${closed.join(', ')}, and a driver works all the same` };
  return { check, state: 'advice', detail: closed.join(', '), remedy: sandboxRemedy };
}

function network({ port, hasLoopback }: MachineFacts): readonly Finding[] {
  const loopback: Finding = hasLoopback
    ? { check: 'addresses', state: 'ok', detail: 'all of 127.0.0.0/8' }
    : {
        check: 'addresses',
        state: 'missing',
        detail: 'only 127.0.0.1 can be listened on',
        remedy: 'every pod gets an address of 127.0.0.0/8, as Linux has them on its loopback device: bring `lo` up',
      };
  if (!port) return [loopback];
  return [loopback, portOf(port)];
}

function portOf({ number, state }: NonNullable<MachineFacts['port']>): Finding {
  const check = 'port';
  switch (state) {
    case 'free':
      return { check, state: 'ok', detail: `${number} is free` };
    case 'in use':
      return {
        check,
        state: 'missing',
        detail: `${number} of 127.0.0.1 is in use`,
        remedy: 'give another --port, or none',
      };
    case 'denied':
      return {
        check,
        state: 'missing',
        detail: `this user may not listen on ${number} of 127.0.0.1`,
        remedy: 'give a --port of 1024 or more, or none',
      };
  }
}

function dataFolder({ data: { path, state, note, freeBytes } }: MachineFacts): readonly Finding[] {
  const check = 'data folder';
  const told = note === '' ? '' : `: ${note}`;
  const folder: Finding =
    state === 'unusable'
      ? { check, state: 'missing', detail: `${path}${told}`, remedy: 'check --data, or use the reeve that wrote it' }
      : {
          check,
          state: 'ok',
          detail: `${path}, ${{ running: 'a control plane runs on it', there: 'no control plane runs on it', none: 'not there yet' }[state]}${told}`,
        };
  if (freeBytes === undefined) return [folder];
  const detail = `${Math.floor(freeBytes / MIB)} MiB free`;
  const remedy = 'make room, or choose another folder with --data';
  const isEnough = freeBytes >= LEAST_FREE_BYTES;
  return [
    folder,
    isEnough ? { check: 'disk', state: 'ok', detail } : { check: 'disk', state: 'missing', detail, remedy },
  ];
}

function shellOf({ shell }: MachineFacts): Finding {
  if (shell !== undefined) return { check: 'sh', state: 'ok', detail: shell };
  const remedy = 'every container is started by a shell: install one';
  return { check: 'sh', state: 'missing', detail: 'not on PATH', remedy };
}

/** An image that is not to be had is only missed by whoever wants it. */
function imageOf({ name, availability, others }: ImageReport): Finding {
  const check = `image ${name}`;
  const also = others.length === 0 ? '' : `; by tag also ${others.join(', ')}`;
  switch (availability.state) {
    case 'installed':
      return { check, state: 'ok', detail: `${availability.version} on PATH: ${availability.path}${also}` };
    case 'cached':
      return { check, state: 'ok', detail: `${availability.version}, fetched before${also}` };
    case 'fetchable':
      return {
        check,
        state: 'ok',
        detail: `${availability.version}, fetched when it is needed: ${availability.from}, ${megabytes(availability.bytes)}${also}`,
      };
    case 'missing':
      return {
        check,
        state: 'advice',
        detail: 'not to be had here',
        remedy: `only for pods with this image: ${availability.why}`,
      };
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
