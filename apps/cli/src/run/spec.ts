/** What `reeve run` takes. */
import type { OptionSpecs } from '../args.ts';
import { type Command, defineCommand } from '../command.ts';

export const runOptions = {
  kubeconfig: {
    type: 'text',
    value: 'FILE',
    help: 'where the API is and who we are. Default: $KUBECONFIG, else ~/.kube/config, else what a pod is given',
  },
  context: { type: 'text', value: 'NAME', help: 'one of the kubeconfig. Default: its current one' },
  namespace: {
    type: 'text',
    short: 'n',
    value: 'NS',
    help: 'of the lease by which one process leads, and of the manifests. Default: reeve-system',
  },
  listen: {
    type: 'text',
    value: 'HOST:PORT',
    help: 'where /livez, /readyz and /metrics are served. Default: 127.0.0.1 and a port that is free. Danger: whoever reaches it reads all metrics',
  },
  install: {
    type: 'flag',
    help: 'make the namespace and the kinds what this version needs, then run. Takes an administrator',
  },
  'print-manifests': {
    type: 'flag',
    help: 'print namespace, kinds, account, rights and a Deployment as YAML; do nothing else',
  },
  image: { type: 'text', value: 'NAME', help: 'of the Deployment that is printed: one that has `reeve` in its PATH' },
} as const satisfies OptionSpecs;

export const runCommand: Command = defineCommand({
  name: 'run',
  takes: '[--kubeconfig FILE] [--listen HOST:PORT] [--install] | --print-manifests [--image NAME]',
  summary: 'the operators on a Kubernetes, until Ctrl-C',
  description: [
    'Outside of it by a kubeconfig, or inside as a pod. Of several processes one leads; the others have warm caches and take over. Ends in order: what runs stops at a safe place, then the lease is given back.',
    'It asks first whether the kinds are there and whether it has its rights, and says what is missing. `reeve up` runs the operators by itself.',
  ],
  options: runOptions,
  examples: [
    { line: 'reeve run --print-manifests --image IMAGE | kubectl apply --server-side -f -', what: 'install it' },
    {
      line: 'reeve run --kubeconfig admin.kubeconfig --install',
      what: 'try it from outside, where pods can be reached',
    },
  ],
  load: () => import('./run.ts'),
});
