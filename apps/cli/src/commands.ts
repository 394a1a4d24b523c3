/** All commands, in the order of the help. */
import { agentVerbs } from './agent/verbs.ts';
import type { Command } from './command.ts';
import { completionCommand } from './completion/spec.ts';
import { doctorCommand } from './doctor/spec.ts';
import { kubeCommands } from './kube/spec.ts';
import { redisVerbs } from './redis/verbs.ts';
import { planCommand } from './plan/spec.ts';
import { runCommand } from './run/spec.ts';
import { localCommands } from './up/spec.ts';

export interface CommandSection {
  readonly title: string;
  readonly commands: readonly Command[];
}

const working: readonly CommandSection[] = [
  { title: 'A control plane on this machine', commands: [...localCommands, doctorCommand] },
  { title: 'Operators on a Kubernetes', commands: [runCommand] },
  { title: 'Objects of an API', commands: [...kubeCommands, planCommand] },
  { title: 'Redis and Valkey clusters: reeve redis VERB HOST:PORT', commands: redisVerbs },
  { title: 'Agents beside servers', commands: agentVerbs },
];

const commandsOf = (sections: readonly CommandSection[]): readonly Command[] =>
  sections.flatMap(({ commands }) => commands);

export const sections: readonly CommandSection[] = [
  ...working,
  { title: 'This program', commands: [completionCommand(commandsOf(working).map(({ spec }) => spec))] },
];

export const allCommands: readonly Command[] = commandsOf(sections);
