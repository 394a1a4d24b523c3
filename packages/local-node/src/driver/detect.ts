/** Which drivers work on this machine: each one is tried, for no version and no setting says it as surely. */
import { join } from 'node:path';
import { type Clock, deadline, ReeveError } from '@reeve/runtime';
import type { Host } from '../host/host.ts';
import { programsNamed } from '../host/programs.ts';
import { bwrapDriver } from './bwrap.ts';
import type { Driver, DriverName } from './driver.ts';
import { plainDriver } from './plain.ts';
import { unshareDriver } from './unshare.ts';

export interface DriverReport {
  readonly name: DriverName;
  readonly works: boolean;
  /** What it said, if it does not. */
  readonly note: string;
}

export interface Detected {
  /** The one to use first, then the best; `plain` always works. */
  readonly drivers: readonly [Driver, ...Driver[]];
  readonly reports: readonly DriverReport[];
  readonly remedy: string;
}

const TRY_MS = 10_000;
const WORD = 'reeve-was-here';
const REMEDY =
  'install bubblewrap (package "bubblewrap"), or allow user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0, ' +
  'user.max_user_namespaces>0; in a container: a seccomp profile that permits unshare and mount)';

/** `first`: the one to use for what begins now. */
export async function detectDrivers(
  ports: { readonly clock: Clock; readonly host: Host },
  folder: string,
  first?: DriverName,
): Promise<Detected> {
  const { host } = ports;
  const [bwrap] = await programsNamed(host, 'bwrap');
  const candidates = [...(bwrap === undefined ? [] : [bwrapDriver(host, bwrap)]), unshareDriver(host)];
  const notes = await Promise.all(
    candidates.map((driver) => tryOut(ports, driver, join(folder, `try-${driver.name}`))),
  );
  const reports: DriverReport[] = [
    ...(bwrap === undefined ? [{ name: 'bwrap', works: false, note: 'bwrap is not in PATH' } as const] : []),
    ...candidates.map(({ name }, at) => ({ name, works: notes[at] === undefined, note: notes[at] ?? '' })),
    { name: 'plain', works: true, note: '' },
  ];
  const working = [...candidates.filter((_, at) => notes[at] === undefined), plainDriver];
  const chosen = first === undefined ? undefined : working.find(({ name }) => name === first);
  if (first !== undefined && !chosen) {
    const { note } = reports.find(({ name }) => name === first) ?? { note: 'there is no such driver' };
    throw new ReeveError('NODE_OPTIONS', `driver ${first} does not work here: ${note}`);
  }
  const drivers = chosen ? [chosen, ...working.filter((one) => one !== chosen)] : working;
  return { drivers: drivers as unknown as [Driver, ...Driver[]], reports, remedy: REMEDY };
}

/** A folder mounted where the machine has none must be readable there. Undefined: it was. */
async function tryOut(
  { clock, host }: { readonly clock: Clock; readonly host: Host },
  driver: Driver,
  folder: string,
): Promise<string | undefined> {
  const { files, processes, path } = host;
  try {
    await files.makeFolder(folder);
    await files.write(join(folder, 'source', 'word'), WORD);
    const target = '/srv/reeve-try';
    const mount = { source: join(folder, 'source'), target, isReadOnly: true, isFile: false };
    const box = { argv: ['/bin/cat', `${target}/word`], env: { PATH: path }, mounts: [mount], workingDir: '/' };
    const { argv, env } = await driver.wrap({ ...box, folder: join(folder, 'root') });
    using limit = deadline(clock, TRY_MS, () => new ReeveError('NODE_OPTIONS', `no answer within ${TRY_MS} ms`));
    const [program = '', ...args] = argv;
    const { code, stdout, stderr } = await processes.run({
      argv: [program, ...args],
      env,
      folder,
      signal: limit.signal,
    });
    return code === 0 && stdout === WORD ? undefined : `exit code ${code}: ${stderr.trim().slice(0, 500)}`;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await files.remove(folder);
  }
}
