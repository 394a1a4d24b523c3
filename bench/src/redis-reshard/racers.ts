/** Who races: the command line tools of the servers, and we. Each moves 4,096 slots to the fourth node. */
import { type Program, redisCli, runProgram, valkeyCli } from '@reeve/rig';
import { serversAlone } from './alone.ts';
import { Child } from './child.ts';
import type { OurAnswer, OurOrder } from './ours.ts';
import { type Racer, SLOTS } from './racer.ts';

export function commandLine(program: Program, name: string, ...options: readonly string[]): Racer {
  return {
    name,
    async race(stage, begin) {
      await begin();
      const began = performance.now();
      const address = `${stage.seed.host}:${stage.seed.port}`;
      const args = ['--cluster', 'reshard', address, '--cluster-from', 'all', '--cluster-to', stage.newcomer];
      args.push('--cluster-slots', String(SLOTS), '--cluster-yes', ...options);
      const { code, stdout, stderr } = await runProgram(program, args, 600_000);
      const ms = performance.now() - began;
      if (code !== 0) throw new Error(`${name} ended with ${code}: ${(stdout + stderr).slice(-400)}`);
      return ms;
    },
  };
}

export function reeve(pace: 'gentle' | 'fast'): Racer {
  return {
    name: pace === 'fast' ? 'reeve --fast' : 'reeve',
    async race(stage, begin) {
      const child = new Child('./ours.ts');
      try {
        await child.next();
        await begin();
        const order: OurOrder = { order: 'reshard', seeds: [stage.seed], to: stage.newcomer, slots: SLOTS, pace };
        const { ms, status, detail } = await child.ask<OurAnswer>(order);
        if (status !== 'reached') throw new Error(`reeve: ${status}: ${detail}`);
        if (process.env.BENCH_DETAIL) process.stderr.write(`${detail}\n`);
        return ms;
      } finally {
        await child.end();
      }
    },
  };
}

export async function redisRacers(): Promise<readonly Racer[]> {
  const cli = await redisCli();
  return [
    { ...commandLine(cli, 'redis-cli'), rounds: 'all' },
    { ...commandLine(cli, 'redis-cli p=100', '--cluster-pipeline', '100'), onlyOn: '1M' },
    { ...commandLine(cli, 'redis-cli p=300', '--cluster-pipeline', '300'), onlyOn: '1M' },
    { ...commandLine(cli, 'redis-cli p=1000', '--cluster-pipeline', '1000'), onlyOn: '1M' },
    { ...reeve('gentle'), rounds: 'all' },
    reeve('fast'),
  ];
}

/** Where valkey-cli cannot be had, redis-cli stands in for its default; its atomic mode then has no row, and the bar fails. */
export async function valkeyRacers(): Promise<readonly Racer[]> {
  const cli = await valkeyCli();
  const atomic = cli && commandLine(cli, 'valkey-cli atomic', '--cluster-use-atomic-slot-migration');
  return [
    { ...(cli ? commandLine(cli, 'valkey-cli') : commandLine(await redisCli(), 'redis-cli')), rounds: 'all' },
    ...(atomic ? [{ ...atomic, rounds: 'double' as const }] : []),
    { ...reeve('gentle'), rounds: 'all' },
    { ...reeve('fast'), rounds: 'double' },
    { ...serversAlone, rounds: 'double' },
  ];
}
