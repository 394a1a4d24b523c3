/** What the commands take that speak to a Kubernetes API, ours or another. */
import type { OptionSpecs } from '../args.ts';
import { type Command, defineCommand } from '../command.ts';

export const apiOptions = {
  kubeconfig: {
    type: 'text',
    value: 'FILE',
    help: 'where the API is and who we are. Default: $KUBECONFIG, else that of `reeve up` in its default folder, else ~/.kube/config, else what a pod is given',
  },
  context: { type: 'text', value: 'NAME', help: 'one of the kubeconfig. Default: its current one' },
  namespace: { type: 'text', short: 'n', value: 'NS', help: 'Default: that of the context' },
} as const satisfies OptionSpecs;

const allNamespaces = { type: 'flag', short: 'A', help: 'of all namespaces' } as const;

export const getOptions = {
  ...apiOptions,
  'all-namespaces': allNamespaces,
  selector: { type: 'text', short: 'l', value: 'SELECTOR', help: 'only those with these labels: app=db,tier!=cache' },
  output: {
    type: 'text',
    short: 'o',
    value: 'FORM',
    choices: ['table', 'wide', 'json', 'yaml', 'name'],
    help: 'table (default), wide, json, yaml or name',
  },
  watch: { type: 'flag', short: 'w', help: 'go on with every change, until Ctrl-C' },
} as const satisfies OptionSpecs;

const getCommand = defineCommand({
  name: 'get',
  takes: 'KIND [NAME…] | KIND/NAME…',
  summary: 'objects of an API: as a table, JSON or YAML',
  description: [
    'KIND is a plural, a singular, a short name or a kind (pods, pod, po, Pod), with its group where that is needed (statefulsets.apps); several with commas.',
  ],
  options: getOptions,
  examples: [
    { line: 'reeve get pods -A --watch', what: 'all pods, and what becomes of them' },
    { line: 'reeve get statefulset/web -o yaml', what: 'one object, whole' },
  ],
  load: () => import('./get.ts'),
});

const file = {
  type: 'text',
  short: 'f',
  value: 'FILE',
  help: 'YAML or JSON, one document or several; - is stdin',
} as const;

export const applyOptions = {
  ...apiOptions,
  file,
  'dry-run': { type: 'flag', help: 'let the server say what would become of it; nothing is changed' },
  force: { type: 'flag', help: 'take fields over that belong to somebody else' },
  output: {
    type: 'text',
    short: 'o',
    value: 'FORM',
    choices: ['table', 'json', 'yaml', 'name'],
    help: 'what is printed of each object. Default: a line',
  },
} as const satisfies OptionSpecs;

const applyCommand = defineCommand({
  name: 'apply',
  takes: '-f FILE [--dry-run] [--force]',
  summary: 'makes objects what a file says',
  description: [
    'By server-side apply, in the name of `reeve`: exactly the fields in the file are ours from then on, others keep theirs. Where a field belongs to somebody else and has another value, nothing of that object is changed, and it is told whose the field is. The other objects of the file are applied.',
  ],
  options: applyOptions,
  examples: [
    { line: 'reeve apply -f cluster.yaml', what: 'creates or changes what is in it' },
    { line: 'generate | reeve apply -f - --dry-run', what: 'asks the server what it would do' },
  ],
  load: () => import('./apply.ts'),
});

export const deleteOptions = {
  ...apiOptions,
  file,
  wait: { type: 'flag', help: 'until they are gone' },
  timeout: { type: 'number', value: 'SECONDS', least: 1, help: 'how long to wait at most. Default: for ever' },
  cascade: {
    type: 'text',
    value: 'HOW',
    choices: ['background', 'foreground', 'orphan'],
    help: 'what becomes of what they own: deleted afterwards (background, the default), before (foreground), or kept (orphan)',
  },
  'ignore-not-found': { type: 'flag', help: 'what is not there is no failure' },
} as const satisfies OptionSpecs;

const deleteCommand = defineCommand({
  name: 'delete',
  takes: 'KIND NAME… | KIND/NAME… | -f FILE [--wait] [--cascade HOW]',
  summary: 'deletes objects',
  description: ['Each is read first and deleted by its uid: one of the same name that was made since is left alone.'],
  options: deleteOptions,
  examples: [
    { line: 'reeve delete pod web-0', what: 'its set makes another one' },
    { line: 'reeve delete -f cluster.yaml --wait', what: 'all that is in the file, and waits until it is gone' },
  ],
  load: () => import('./delete.ts'),
});

export const eventsOptions = {
  ...apiOptions,
  'all-namespaces': allNamespaces,
  output: {
    type: 'text',
    short: 'o',
    value: 'FORM',
    choices: ['table', 'json', 'yaml'],
    help: 'table (default), json or yaml',
  },
  watch: { type: 'flag', short: 'w', help: 'go on with new ones, until Ctrl-C' },
} as const satisfies OptionSpecs;

const eventsCommand = defineCommand({
  name: 'events',
  takes: '[KIND/NAME]',
  summary: 'what happened, the newest last',
  description: ['Of everything in the namespace, or of one object.'],
  options: eventsOptions,
  examples: [{ line: 'reeve events pod/web-0 --watch', what: 'why it does not start' }],
  load: () => import('./events.ts'),
});

export const whyOptions = {
  ...apiOptions,
  output: {
    type: 'text',
    short: 'o',
    value: 'FORM',
    choices: ['text', 'table', 'json', 'yaml'],
    help: 'text (table means the same here), json or yaml',
  },
} as const satisfies OptionSpecs;

const whyCommand = defineCommand({
  name: 'why',
  takes: 'KIND/NAME [-o FORM]',
  summary: 'why an object is as it is, what is done about it, and what is waited for',
  description: [
    'From its status and its events: the verdict first; what is amiss, what is being done and why, what is waited for; and apart from that what was before.',
  ],
  options: whyOptions,
  examples: [{ line: 'reeve why rediscluster/cache', what: 'what its operator sees, does and waits for' }],
  load: () => import('./why.ts'),
});

export const logsOptions = {
  ...apiOptions,
  container: { type: 'text', short: 'c', value: 'NAME', help: 'Default: the first one' },
  follow: { type: 'flag', short: 'f', help: 'go on until the container ends, or Ctrl-C' },
  previous: { type: 'flag', short: 'p', help: 'of the run before this one' },
  tail: { type: 'number', value: 'N', least: 0, help: 'only so many lines from the end' },
} as const satisfies OptionSpecs;

const logsCommand = defineCommand({
  name: 'logs',
  takes: 'POD [-c CONTAINER] [-f] [--previous] [--tail N]',
  summary: 'what a container wrote',
  description: [],
  options: logsOptions,
  examples: [{ line: 'reeve logs web-0 -f --tail 20', what: 'the last lines, and those to come' }],
  load: () => import('./logs.ts'),
});

export const execOptions = {
  ...apiOptions,
  container: { type: 'text', short: 'c', value: 'NAME', help: 'Default: the first one' },
  stdin: { type: 'flag', short: 'i', help: 'the command gets what is piped to this one' },
} as const satisfies OptionSpecs;

const execCommand = defineCommand({
  name: 'exec',
  takes: 'POD [-c CONTAINER] [-i] -- COMMAND…',
  summary: 'runs a command in a container',
  description: ['Without a terminal. Ends with the exit code of the command.'],
  options: execOptions,
  examples: [{ line: "reeve exec web-0 -- sh -c 'echo $HOSTNAME'", what: 'in its namespaces, with its environment' }],
  load: () => import('./exec.ts'),
});

export const kubeCommands: readonly Command[] = [
  getCommand,
  applyCommand,
  deleteCommand,
  eventsCommand,
  whyCommand,
  logsCommand,
  execCommand,
];
