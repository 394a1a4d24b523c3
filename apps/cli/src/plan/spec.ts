/** What `reeve plan` takes. */
import type { OptionSpecs } from '../args.ts';
import { type Command, defineCommand } from '../command.ts';
import { apiOptions } from '../kube/spec.ts';

export const planOptions = {
  ...apiOptions,
  file: {
    type: 'text',
    short: 'f',
    value: 'FILE',
    help: 'what would be done if this were applied; - is stdin',
  },
  output: {
    type: 'text',
    short: 'o',
    value: 'FORM',
    choices: ['table', 'json', 'yaml'],
    help: 'table (for people, the default), json or yaml',
  },
} as const satisfies OptionSpecs;

export const planCommand: Command = defineCommand({
  name: 'plan',
  takes: 'rediscluster/NAME | redistask/NAME | -f FILE [--output FORM]',
  summary: 'what an operator would do next with a resource, and why',
  description: [
    'Reads the resource, its objects and its servers as they are now, decides as the operator does, and prints steps, reasons and the digest by which a plan is approved. Changes nothing: with a file the server is asked what would become of it.',
    'Servers are asked from where this runs: they must be reachable from here. Waits that the operator keeps before it acts are left out.',
  ],
  options: planOptions,
  examples: [
    { line: 'reeve plan rediscluster/cache', what: 'what comes next' },
    { line: 'reeve plan -f cluster.yaml', what: 'before it is applied' },
  ],
  load: () => import('./plan.ts'),
});
