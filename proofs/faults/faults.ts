/** What is done to the server or to the way to it, while somebody writes and a reflector watches. */
import { isKubeError } from '@reeve/kube';
import { type Kube, until } from '@reeve/rig';
import { BUSY, definition, maps, QUICK, type Scene, storm, things } from '@reeve/runtime/testing/real';
import type { Scope } from './scope.ts';

export interface Hit {
  readonly kube: Kube;
  readonly scene: Scene;
  readonly scope: Scope;
  readonly namespace: string;
  readonly kubeconfig: string;
  readonly random: () => number;
}

export interface Fault {
  readonly title: string;
  readonly kind: typeof maps;
  /** How much faster the reflector's clock goes: its patience is minutes. */
  readonly speed: (watches: 'http1' | 'http2') => number;
  /** Flags of the server that it needs; faults with the same flags share one. */
  readonly server?: readonly string[];
  /** Before the reflector starts. */
  readonly prepare?: (kube: Kube) => Promise<void>;
  readonly hit: (round: Hit) => Promise<void>;
}

/** Where a server that is slow for a moment must not look dead. */
const UNHURRIED = 5;
const PATIENCE = { timeoutMs: 60_000 };

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export const faults: Readonly<Record<string, Fault>> = {
  kill: {
    title: 'kill -9 and restart of the server',
    kind: maps,
    speed: () => UNHURRIED,
    async hit({ kube, scene, random }) {
      await pause(random() * 500);
      await kube.apiserver.kill9();
      await until('it noticed', () => scene.reflector.state.phase === 'waiting', PATIENCE);
      await pause(random() * 1_000);
      await kube.apiserver.restart();
    },
  },
  half: {
    title: 'half-open connection: bytes are swallowed, nobody is told',
    kind: maps,
    // With HTTP/2 a missing answer to a PING tells; with HTTP/1.1 the reflector's own patience.
    speed: (watches) => (watches === 'http2' ? 1 : QUICK),
    async hit({ scene, random }) {
      const { watches } = scene.reflector.state;
      await pause(random() * 500);
      scene.relay.silence();
      await until('another watch was opened', () => scene.reflector.state.watches > watches, PATIENCE);
    },
  },
  compaction: {
    title: 'compaction of etcd while it was away: 410',
    kind: maps,
    speed: () => UNHURRIED,
    async hit({ kube, scene, random }) {
      const { lists } = scene.reflector.state;
      scene.relay.cutAfter(0);
      await pause(300 + random() * 700);
      await kube.compact();
      // What the server still has in memory goes with it.
      await kube.apiserver.restart();
      scene.relay.cutAfter(undefined);
      await until('it listed again', () => scene.reflector.state.lists > lists, PATIENCE);
    },
  },
  closed: {
    title: 'every connection is closed after 50 ms',
    kind: maps,
    speed: () => QUICK,
    async hit({ scene, random }) {
      scene.relay.cutAfter(50);
      await pause(2_000 + random() * 2_000);
      scene.relay.cutAfter(undefined);
    },
  },
  definition: {
    title: 'the CRD is deleted and created again while it is watched',
    kind: things,
    speed: () => QUICK,
    prepare: define,
    async hit({ kube, scene, random }) {
      await pause(random() * 300);
      await kube.kubectl(['delete', 'crd', definition.metadata.name]);
      const isUnknown = (error: unknown) => isKubeError(error, 'KUBE_NOT_FOUND');
      const isGone = () => scene.direct.list().then(() => false, isUnknown);
      await until('the server knows the kind no more', isGone, PATIENCE);
      await until('it is found missing', () => scene.reflector.state.isMissing, PATIENCE);
      await pause(random() * 300);
      await define(kube);
      await until('it is served', () => scene.direct.list(), PATIENCE);
    },
  },
  storm: {
    title: '429 storm',
    kind: maps,
    speed: () => UNHURRIED,
    server: BUSY,
    async hit({ scene, scope, namespace, kubeconfig, random }) {
      const big = { big: 'x'.repeat(100_000) };
      for (const name of ['big-0', 'big-1', 'big-2', 'big-3'])
        await scene.direct.create({ metadata: { name }, data: big });
      const busy = storm(scope, namespace, kubeconfig);
      await until('the server refuses', () => busy.refused() > 20, PATIENCE);
      scene.relay.cut();
      await pause(500 + random() * 1_500);
      const refused = busy.refused();
      await until('the server still refuses', () => busy.refused() > refused + 20, PATIENCE);
      await busy.end();
    },
  },
};

async function define(kube: Kube): Promise<void> {
  const { name } = definition.metadata;
  const isThere = (await kube.kubectl(['get', 'crd', '-o', 'name'])).includes(name);
  if (!isThere) await kube.kubectl(['create', '-f', '-'], { input: JSON.stringify(definition) });
  await kube.kubectl(['wait', '--for=condition=Established', `crd/${name}`]);
}
