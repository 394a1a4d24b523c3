/** What `reeve up` takes. */
import type { CommandSpec, OptionSpecs } from '../args.ts';

export const upOptions = {
  data: { type: 'text', value: 'FOLDER', help: 'where everything is kept. Default: $XDG_STATE_HOME/reeve/local' },
  port: {
    type: 'number',
    value: 'PORT',
    help: 'of the API, on 127.0.0.1. Default: any that is free',
    least: 1,
    most: 65535,
  },
  nodes: {
    type: 'number',
    value: 'N',
    help: 'how many nodes this machine stands for. Default: 3',
    least: 1,
    most: 100,
  },
  zones: { type: 'text', value: 'A,B,…', help: 'zones of the nodes, in turn. Default: each node is one of its own' },
  driver: {
    type: 'text',
    value: 'NAME',
    help: 'how pods are kept apart: bwrap, unshare, plain. Default: the best that works here',
    choices: ['bwrap', 'unshare', 'plain'],
  },
  verbose: { type: 'flag', help: 'says on stderr what controllers do' },
} as const satisfies OptionSpecs;

export const upSpec: CommandSpec = {
  name: 'up',
  takes: '[--data FOLDER] [--port PORT] [--nodes N] [--zones A,B,…]',
  summary: 'a control plane on this machine: a Kubernetes-compatible API, pods as processes',
  description: [
    'Runs until Ctrl-C. Pods outlive it: the next start with the same folder takes them over, as they are.',
    'Not a wall between people: whoever may create a pod runs programs as the user who started this. The API is on 127.0.0.1 only and asks for a token, which is in the kubeconfig, a file that only this user can read.',
  ],
  groups: [{ title: 'Options', options: upOptions }],
  examples: [
    { line: 'reeve up', what: 'three nodes, everything in the default folder' },
    { line: 'reeve up --data ./cluster --nodes 6 --zones a,b,c', what: 'six nodes over three zones' },
  ],
};
