/** Which commands of the tool a campaign must come to: what is never reached was not tested, however many seeds ran. */
import type { RedisCommand } from '../../src/api/commands.ts';

type Must = 'must be reached' | { readonly unreachable: string };

/** Every command there is: the compiler asks for a word about each new one. */
const commands: Readonly<Record<Exclude<RedisCommand['type'], 'failover'>, Must>> = {
  'assign-slots': 'must be reached',
  'set-epochs': 'must be reached',
  meet: 'must be reached',
  replicate: 'must be reached',
  'migrate-slots': 'must be reached',
  'claim-slots': 'must be reached',
  'collect-keys': 'must be reached',
  'close-slots': 'must be reached',
  'bump-epoch': 'must be reached',
  'forget-node': 'must be reached',
  'copy-functions': 'must be reached',
};

const failovers: Readonly<Record<Extract<RedisCommand, { type: 'failover' }>['mode'], Must>> = {
  graceful: 'must be reached',
  force: 'must be reached',
  takeover: 'must be reached',
};

/** How coverage counts a command. */
export function commandLabel(command: RedisCommand): string {
  return `command ${command.type === 'failover' ? `failover ${command.mode}` : command.type}`;
}

const all: readonly (readonly [string, Must])[] = [
  ...Object.entries(commands).map(([type, must]) => [`command ${type}`, must] as const),
  ...Object.entries(failovers).map(([mode, must]) => [`command failover ${mode}`, must] as const),
];

export const requiredLabels: readonly string[] = all.flatMap(([label, must]) =>
  must === 'must be reached' ? [label] : [],
);

export const unreachable: readonly string[] = all.flatMap(([label, must]) =>
  must === 'must be reached' ? [] : [`${label}: ${must.unreachable}`],
);
