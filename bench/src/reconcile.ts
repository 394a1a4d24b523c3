/**
 * What a reconcile costs: a controller on this runtime next to the same one on controller-runtime, on a real kube-apiserver. All objects
 * have changed before the controller starts; the time is taken from the moment on which its workers may begin.
 *
 *     npm run bench -- reconcile [--objects 10000] [--rounds 5] [--concurrency 8] [--quick]
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { NAMESPACE } from './kubernetes/objects.ts';
import { goOpponents, goVersionOf } from './kubernetes/opponents.ts';
import { type Stage, startStage } from './kubernetes/stage.ts';
import { LineProcess, type Started } from './process/line-process.ts';
import type { Usage } from './process/usage.ts';
import { atLeast, atMost, median } from './report/bars.ts';
import { printBars, printTable, say } from './report/print.ts';

interface Figures {
  readonly cpuMicros: number;
  readonly perSecond: number;
}

interface Contender {
  readonly name: 'reeve' | 'merge' | 'apply';
  readonly title: string;
  readonly start: (kubeconfig: string) => Started;
}

const PATIENCE_MS = 15 * 60_000;
/** The last writes come back as events. */
const SETTLE_MS = 1_500;

export default async function reconcile(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      objects: { type: 'string', default: '10000' },
      rounds: { type: 'string', default: '5' },
      concurrency: { type: 'string', default: '8' },
      quick: { type: 'boolean', default: false },
    },
  });
  const rounds = values.quick ? 1 : Number(values.rounds);
  const objects = values.quick ? 1_000 : Number(values.objects);
  const contenders = await contendersWith(values.concurrency);
  await using stage = await startStage();
  await stage.load.ask({ do: 'fill', resource: 'widgets', from: 0, to: objects });
  const all = new Map(contenders.map(({ name }) => [name, [] as Figures[]]));
  let revision = 1;
  for (let round = 0; round < rounds; round++) {
    const turn = round % contenders.length;
    for (const contender of [...contenders.slice(turn), ...contenders.slice(0, turn)]) {
      const figures = await measure(stage, contender, objects, revision++);
      all.get(contender.name)?.push(figures);
      say(`round ${round + 1}: ${contender.name} ${JSON.stringify(figures)}`);
    }
  }
  const of = (name: Contender['name'], key: keyof Figures) => median((all.get(name) ?? []).map((one) => one[key]));
  printTable([
    ['controller', 'µs of CPU per reconcile', 'reconciles/s'],
    ...contenders.map(({ name, title }) => [title, of(name, 'cpuMicros').toFixed(), of(name, 'perSecond').toFixed()]),
  ]);
  process.stdout.write(
    `Medians of ${rounds} rounds; ${objects} custom resources, each reconciled once with one write of its status, ${values.concurrency} at a time; CPU of the controller's process, with the events of its own writes.\n`,
  );
  const bars = [
    atMost("CPU per reconcile, of controller-runtime's", of('reeve', 'cpuMicros') / of('merge', 'cpuMicros'), 0.8),
    atLeast("reconciles/s, of controller-runtime's", of('reeve', 'perSecond') / of('merge', 'perSecond'), 0.9),
  ];
  printBars('reconcile', bars, { rounds, quick: values.quick });
}

async function contendersWith(concurrency: string): Promise<readonly Contender[]> {
  const opponents = await goOpponents();
  const script = fileURLToPath(new URL('./reconcile/ours.ts', import.meta.url));
  const version = `controller-runtime ${goVersionOf('sigs.k8s.io/controller-runtime')}`;
  const go = (flavour: 'merge' | 'apply') => (kubeconfig: string) => ({
    command: opponents,
    args: [
      'reconcile',
      `-kubeconfig=${kubeconfig}`,
      `-namespace=${NAMESPACE}`,
      `-flavour=${flavour}`,
      `-concurrency=${concurrency}`,
    ],
  });
  return [
    {
      name: 'reeve',
      title: `reeve (Node ${process.versions.node}), status by apply`,
      start: (kubeconfig) => ({ command: process.execPath, args: ['--expose-gc', script, kubeconfig, concurrency] }),
    },
    { name: 'merge', title: `${version}, typed, status by merge patch`, start: go('merge') },
    { name: 'apply', title: `${version}, typed, status by apply`, start: go('apply') },
  ];
}

async function measure(stage: Stage, { name, start }: Contender, objects: number, revision: number): Promise<Figures> {
  await stage.load.ask({ do: 'rewrite', resource: 'widgets', objects, events: objects, revision, isShared: true });
  await using child = new LineProcess(name, start(stage.kubeconfig));
  await child.next(PATIENCE_MS);
  await sleep(SETTLE_MS);
  const before = await child.ask<Usage>({ do: 'reset' });
  const began = performance.now();
  await child.ask({ do: 'open' });
  await child.ask({ do: 'await', events: objects }, PATIENCE_MS);
  const ms = performance.now() - began;
  await sleep(SETTLE_MS);
  const after = await child.ask<Usage>({ do: 'usage' });
  return { cpuMicros: ((after.cpuMs - before.cpuMs) / objects) * 1_000, perSecond: (objects / ms) * 1_000 };
}
