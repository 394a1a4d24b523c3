/** What a container of a pod is to see and to run. */
import { join } from 'node:path';
import type { Box, Mount } from '../driver/driver.ts';
import { placeData } from '../image/data-place.ts';
import type { ResolvedImage } from '../image/images.ts';
import type { Surroundings } from '../pod/downward.ts';
import { byEntrypoint, commandOf, ConfigProblem, environmentOf, referencesOf } from '../pod/environment.ts';
import type { PodContainer } from '../pod/progress.ts';
import { asUser } from '../pod/user.ts';
import type { StoredPod } from '../pod/view.ts';
import type { PodVolumes } from '../volumes/pod-volumes.ts';
import { type Sources, type Texts, textOf } from '../volumes/sources.ts';
import type { NodeEnvironment } from './node-environment.ts';
import { reachOf, runsAs } from './run-as.ts';
import { ACCOUNT_PATH } from './service-account-volume.ts';

export interface BoxInput {
  readonly node: NodeEnvironment;
  readonly pod: StoredPod;
  readonly container: PodContainer;
  readonly image: ResolvedImage;
  readonly around: Surroundings;
  readonly volumes: PodVolumes;
  readonly sources: Sources;
  /** Besides the volumes: files of the pod's own below `/etc`. */
  readonly more: readonly Mount[];
}

export async function boxOf(input: BoxInput): Promise<Box> {
  const { node, pod, container, around, volumes } = input;
  const folder = node.runs.containerFolder({ uid: pod.metadata.uid, container: container.name });
  const user = runsAs(node, pod, container);
  const isElsewhere = user !== undefined && node.driver.hasMounts;
  const { home, image, mounts: own } = reachOf(folder, input.image, isElsewhere);
  const told = image.tell(around.address);
  const placed = placeData(image.data, container);
  const env = environmentOf({
    pod,
    container,
    around,
    sources: await readFor(container, input.sources),
    given: givenTo({ ...input, image }, home, { ...told.env, ...placed.env }),
  });
  const mounts = await volumes.mountsOf(container, env);
  const account = mounts.find(({ target }) => target === ACCOUNT_PATH);
  const asked = byEntrypoint(container, image);
  const argv = commandOf(asked, image, env);
  if (argv.length === 0)
    throw new ConfigProblem(`no command specified: image "${container.image}" has none of its own`);
  const program = (asked.command ?? []).length === 0 ? [...argv, ...told.args] : argv;
  return {
    argv: [...asUser(user), ...program],
    // Without namespaces the token lies elsewhere: whoever asks this variable finds it in any case.
    env: account ? { ...env, REEVE_SERVICE_ACCOUNT: node.driver.hasMounts ? ACCOUNT_PATH : account.source } : env,
    mounts: [...mounts, ...own, ...input.more],
    workingDir: container.workingDir ?? placed.workingDir ?? (isElsewhere ? home : undefined),
    folder: join(folder, 'root'),
  };
}

/** Nothing of the node's own environment: it may hold secrets, and is another one on every machine. */
function givenTo({ node, pod, image, around }: BoxInput, home: string, told: Readonly<Record<string, string>>) {
  const { apiServer } = node.facts;
  return {
    PATH: [...image.path, node.host.path].join(':'),
    HOME: home,
    HOSTNAME: pod.spec?.hostname ?? pod.metadata.name,
    ...(apiServer && {
      KUBERNETES_SERVICE_HOST: apiServer.host,
      KUBERNETES_SERVICE_PORT: String(apiServer.port),
    }),
    ...image.env,
    ...told,
    POD_IP: around.address,
  };
}

async function readFor(container: PodContainer, sources: Sources) {
  const { configMaps, secrets } = referencesOf([container]);
  return {
    configMaps: await byName(configMaps, (name) => sources.configMapTexts(name)),
    secrets: await byName(secrets, async (name) => textOf(await sources.secret(name))),
  };
}

async function byName(names: readonly string[], read: Sources['configMapTexts']) {
  const found: Record<string, Texts | null> = {};
  for (const name of names) found[name] = await read(name);
  return found;
}
