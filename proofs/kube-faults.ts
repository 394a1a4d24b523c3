/**
 * Reflector and cache on a real kube-apiserver, under everything that breaks a watch, while somebody writes. After each fault the
 * cache equals a fresh list, events per object were monotonic, nothing is left open.
 *
 *     npm run proof -- kube-faults [--rounds 5] [--objects 100000] [--only kill,half] [--seed 1]
 */
import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Kube, startKube, until } from '@reeve/rig';
import { type Fault, faults } from './faults/faults.ts';
import { type ManyResult, many } from './faults/many.ts';
import { play, type RoundResult } from './faults/round.ts';
import { generator } from './lib/random.ts';
import { writeResult } from './result.ts';

type Results = Map<string, RoundResult[]>;

export default async function kubeFaults(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '5' },
      objects: { type: 'string', default: '100000' },
      only: { type: 'string', default: Object.keys(faults).join() },
      seed: { type: 'string', default: '1' },
    },
  });
  const random = generator(Number(values.seed));
  const rounds = Number(values.rounds);
  const chosen = values.only.split(',').map((name) => {
    const fault = faults[name];
    if (!fault) throw new Error(`no such fault: ${name}. There are: ${Object.keys(faults).join(', ')}`);
    return [name, fault] as const;
  });
  const results: Results = new Map();
  let multitude: ManyResult | undefined;
  const ordinary = chosen.filter(([, fault]) => fault.server === undefined);
  if (ordinary.length > 0 || Number(values.objects) > 0) {
    await using kube = await startKube();
    await playAll(kube, ordinary, { rounds, random, results, kubeconfig: kube.kubeconfig });
    if (Number(values.objects) > 0) {
      multitude = await many(kube, Number(values.objects), random);
      process.stdout.write(`${sayMany(multitude)}\n`);
    }
  }
  for (const one of chosen.filter(([, fault]) => fault.server !== undefined)) {
    await using kube = await startKube({ apiserverArguments: one[1].server ?? [] });
    // The server never refuses its masters: somebody with the same rights by a role.
    const { kubeconfig } = await kube.user({ name: 'many' });
    await kube.kubectl(['create', 'clusterrolebinding', 'many', '--clusterrole=cluster-admin', '--user=many']);
    await until('its role counts', () => kube.kubectl(['get', 'configmaps'], { kubeconfig }));
    await playAll(kube, [one], { rounds, random, results, kubeconfig });
  }
  const left = await serversLeft();
  const problems = [
    ...[...results.values()].flat().flatMap(({ problem }) => problem ?? []),
    ...(multitude?.problem === undefined ? [] : [multitude.problem]),
    ...left.map((one) => `still running: ${one}`),
  ];
  writeResult('kube-faults', problems.length === 0, [
    `A real kube-apiserver and etcd, seed ${values.seed}; the reflector behind a relay, over HTTP/1.1 or HTTP/2 by chance; a writer that creates, changes and deletes a dozen names all the time, also while the fault lasts.`,
    table(results),
    ...(multitude ? [sayMany(multitude)] : []),
    'After each round: the cache held exactly what a fresh list said (name, uid, version), and what had been told added up to it; no object went back in its versions, none was told changed or removed that was not known, none was added twice; after the end of the reflector no connection through the relay, no socket, timer or process was left that was not there before the round. In the end no etcd and no kube-apiserver of this proof was running.',
    ...(problems.length === 0 ? [] : [problems.map((one) => `- ${one}`).join('\n')]),
  ]);
  return problems.length === 0;
}

interface Play {
  readonly rounds: number;
  readonly random: () => number;
  readonly results: Results;
  readonly kubeconfig: string;
}

async function playAll(kube: Kube, chosen: readonly (readonly [string, Fault])[], settings: Play): Promise<void> {
  const { rounds, random, results, kubeconfig } = settings;
  for (const [name, fault] of chosen) {
    const seen: RoundResult[] = [];
    results.set(name, seen);
    for (let round = 0; round < rounds; round++) {
      const result = await play({ kube, fault, name: `${name}-${round}`, random, kubeconfig });
      seen.push(result);
      const { watches, writes, events, lists, opened, problem } = result;
      process.stdout.write(
        problem === undefined
          ? `${name} ${round}: ${watches}, ${writes} writes, ${events} events, ${lists} lists, ${opened} watches\n`
          : `${name} ${round}: PROBLEM ${problem}\n`,
      );
    }
  }
}

function table(results: Results): string {
  const sum = (seen: readonly RoundResult[], field: 'writes' | 'events' | 'lists' | 'opened') =>
    seen.reduce((total, one) => total + one[field], 0);
  const lines = [...results].map(([name, seen]) => {
    const held = seen.filter(({ problem }) => problem === undefined).length;
    const cells = [
      `${held} of ${seen.length}`,
      ...(['writes', 'events', 'lists', 'opened'] as const).map((field) => sum(seen, field)),
    ];
    return `| ${faults[name]?.title} | ${cells.join(' | ')} |`;
  });
  return [
    '| fault | rounds that held | writes | events | lists | watches |',
    '|---|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}

function sayMany({ objects, filledMs, syncedMs, againMs, toldAgain, writes }: ManyResult): string {
  const seconds = (ms: number) => (ms / 1_000).toFixed(1);
  return `${objects} objects, made in ${seconds(filledMs)} s: the cache equalled a list after ${seconds(syncedMs)} s. Cut off, ${writes} writes, a compaction and a restart later (410, a second list of everything): equal after ${seconds(againMs)} s, with ${toldAgain} events told. Times include reading everything once more to compare.`;
}

/** Servers that are children of this process. */
async function serversLeft(): Promise<readonly string[]> {
  const look = () =>
    readdirSync('/proc')
      .filter((one) => /^\d+$/.test(one))
      .flatMap((pid) => {
        try {
          const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
          const [, name = '', parent = ''] = /^\d+ \((.*)\) \S (\d+)/.exec(stat) ?? [];
          return Number(parent) === process.pid && /^(etcd|kube-)/.test(name) ? [`${name} ${pid}`] : [];
        } catch {
          return []; // it ended meanwhile
        }
      });
  return until('no server is left', () => look().length === 0 && look()).catch(look);
}
