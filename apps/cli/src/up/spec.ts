/** What the commands take that look after a control plane on this machine. */
import type { OptionSpecs } from '../args.ts';
import { type Command, defineCommand } from '../command.ts';

export const data = {
  type: 'text',
  value: 'FOLDER',
  help: 'where everything is kept. Default: $XDG_STATE_HOME/reeve/local',
} as const;

export const upOptions = {
  data,
  port: {
    type: 'number',
    value: 'PORT',
    help: 'of the API, on 127.0.0.1. Default: that of the last time, or any that is free',
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
  'host-path': {
    type: 'list',
    value: 'FOLDER',
    help: 'pods may mount what lies below it as a hostPath. May be given several times. Default: no folder',
  },
  verbose: { type: 'flag', help: 'says on stderr what controllers do' },
} as const satisfies OptionSpecs;

const upCommand = defineCommand({
  name: 'up',
  takes: '[--data FOLDER] [--port PORT] [--nodes N] [--zones A,B,…]',
  summary: 'a control plane on this machine: a Kubernetes-compatible API, pods as processes',
  description: [
    'Runs until Ctrl-C. Pods outlive it: the next start with the same folder takes them over, as they are.',
    'Not a wall between people: whoever may create a pod runs programs as the user who started this. The API is on 127.0.0.1 only, by TLS, and asks for a token; token and certificate authority are in the kubeconfig, a file that only this user can read.',
  ],
  options: upOptions,
  examples: [
    { line: 'reeve up', what: 'three nodes, everything in the default folder' },
    { line: 'reeve up --data ./cluster --nodes 6 --zones a,b,c', what: 'six nodes over three zones' },
  ],
  load: () => import('./up.ts'),
});

export const downOptions = { data } as const satisfies OptionSpecs;

const downCommand = defineCommand({
  name: 'down',
  takes: '[--data FOLDER]',
  summary: 'ends all pods of a control plane, and the control plane itself',
  description: [
    'Each pod gets its own time to end. If `reeve up` runs, it is asked to do it, and waited for; if it is stopping, gone, or dies over it, this command does it by itself. Nothing is deleted: objects, volumes and keys stay, and the next `reeve up` begins the pods anew.',
  ],
  options: downOptions,
  examples: [{ line: 'reeve down', what: 'before the machine is put away' }],
  load: () => import('./down.ts'),
});

export const backupOptions = { data } as const satisfies OptionSpecs;

const backupCommand = defineCommand({
  name: 'backup',
  takes: 'FILE [--data FOLDER]',
  summary: 'copies the objects of a control plane into a file',
  description: [
    'While `reeve up` runs or not. The file holds everything that the API server stores, secrets included: only its owner can read it. Keys, tokens, volumes and logs are not in it. A file that is there is not overwritten.',
  ],
  options: backupOptions,
  examples: [{ line: 'reeve backup before-upgrade.db', what: 'then `reeve restore before-upgrade.db` brings it back' }],
  load: () => import('./backup.ts'),
});

export const restoreOptions = { data } as const satisfies OptionSpecs;

const restoreCommand = defineCommand({
  name: 'restore',
  takes: 'FILE [--data FOLDER]',
  summary: 'puts a backup in the place of the objects of a control plane',
  description: [
    'Only into a folder that no `reeve up` uses: `reeve down`, or Ctrl-C, comes first. What was there before is kept beside it. Pods that still run and are in the backup are taken over by the next `reeve up`; others are ended.',
  ],
  options: restoreOptions,
  examples: [{ line: 'reeve restore before-upgrade.db', what: 'everything as it was then' }],
  load: () => import('./restore.ts'),
});

export const localCommands: readonly Command[] = [upCommand, downCommand, backupCommand, restoreCommand];
