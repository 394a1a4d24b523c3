/** What `reeve doctor` takes. */
import type { OptionSpecs } from '../args.ts';
import { type Command, defineCommand } from '../command.ts';
import { data } from '../up/spec.ts';

export const doctorOptions = {
  data,
  port: { type: 'number', value: 'PORT', help: 'also look whether this port is free', least: 1, most: 65535 },
  output: { type: 'text', short: 'o', value: 'FORM', choices: ['table', 'json', 'yaml'], help: 'table, json or yaml' },
} as const satisfies OptionSpecs;

export const doctorCommand: Command = defineCommand({
  name: 'doctor',
  takes: '[--data FOLDER] [--port PORT] [--output FORM]',
  summary: 'what of this machine a control plane can use, and what is missing',
  description: [
    'Looks and tries; changes nothing. Ends with 0 if everything that is needed is there, with 1 otherwise. What is only useful is told with what it is good for.',
  ],
  options: doctorOptions,
  examples: [{ line: 'reeve doctor', what: 'before the first start, or when pods do not start' }],
  load: () => import('./doctor.ts'),
});
