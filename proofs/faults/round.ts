/** One round: a reflector, a writer, a fault; then what must hold. */
import { type Kube, until } from '@reeve/rig';
import { reflecting } from '@reeve/runtime/testing/real';
import type { Fault } from './faults.ts';
import { leftOpen, openThings, Scope } from './scope.ts';
import { Writer } from './writer.ts';

export interface RoundResult {
  readonly watches: 'http1' | 'http2';
  readonly writes: number;
  readonly events: number;
  readonly lists: number;
  readonly opened: number;
  readonly problem?: string;
}

export interface Round {
  readonly kube: Kube;
  readonly fault: Fault;
  /** Of its own namespace. */
  readonly name: string;
  readonly random: () => number;
  /** Who reads and writes. */
  readonly kubeconfig: string;
}

const PATIENCE_MS = 60_000;

export async function play(round: Round): Promise<RoundResult> {
  const watches = round.random() < 0.5 ? 'http1' : 'http2';
  const seen = { watches, writes: 0, events: 0, lists: 0, opened: 0 } as const;
  try {
    const before = openThings();
    const result = await hit(round, watches);
    const isClean = () => leftOpen(before).length === 0;
    await until('nothing is left open', isClean).catch((error: unknown) => {
      throw new Error(`left open: ${leftOpen(before).join()}`, { cause: error });
    });
    return result;
  } catch (error) {
    await round.kube.apiserver.start(); // the next round is not to suffer; nothing happens if it runs
    return {
      ...seen,
      problem: `${round.name} over ${watches}: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

async function hit(round: Round, watches: 'http1' | 'http2'): Promise<RoundResult> {
  const { kube, fault, name: namespace, random, kubeconfig } = round;
  await kube.kubectl(['create', 'namespace', namespace]);
  await fault.prepare?.(kube);
  await using scope = new Scope();
  const speed = fault.speed(watches);
  const scene = await reflecting(scope, kube, fault.kind, { watches, namespace, speed, kubeconfig });
  await until('the server answers', () => scene.direct.list(), { timeoutMs: PATIENCE_MS });
  const writer = new Writer(scene.direct, random);
  scope.after(() => writer.stop());
  writer.start();
  await until('the first events', () => scene.told.length > 10, { timeoutMs: PATIENCE_MS });
  await fault.hit({ kube, scene, scope, namespace, kubeconfig, random });
  const { writes } = writer;
  await until('somebody still writes', () => writer.writes > writes + 10, { timeoutMs: PATIENCE_MS });
  await writer.stop();
  await scene.equalsServer(PATIENCE_MS);
  await scene.end(); // throws what its judge found: an event that went back, or came twice
  const { lists, watches: opened } = scene.reflector.state;
  return { watches, writes: writer.writes, events: scene.told.length, lists, opened };
}
