/**
 * Which commands of the tool a campaign must come to: what is never reached was not tested, however many seeds ran.
 * None is out of reach: the model has whatever they need, functions and lost majorities too.
 */
import type { Failover, RedisCommand } from '../../src/api/commands.ts';

type Plain = Exclude<RedisCommand, Failover>['type'];

/** Every command there is: the compiler asks for each new one. */
const commands: Readonly<Record<Plain, true>> = {
  'assign-slots': true,
  'set-epochs': true,
  meet: true,
  replicate: true,
  'migrate-slots': true,
  'claim-slots': true,
  'collect-keys': true,
  'close-slots': true,
  'bump-epoch': true,
  'forget-node': true,
  'copy-functions': true,
};

/** Three commands in one. */
const failovers: Readonly<Record<Failover['mode'], true>> = { graceful: true, force: true, takeover: true };

/** How coverage counts a command. */
export function commandLabel(command: RedisCommand): string {
  return `command ${command.type === 'failover' ? `failover ${command.mode}` : command.type}`;
}

export const requiredLabels: readonly string[] = [
  ...Object.keys(commands).map((type) => `command ${type}`),
  ...Object.keys(failovers).map((mode) => `command failover ${mode}`),
];
