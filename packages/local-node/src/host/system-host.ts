import { readFileSync } from 'node:fs';
import { arch, availableParallelism, release, totalmem } from 'node:os';
import { getegid, geteuid } from 'node:process';
import { systemClock } from '@reeve/runtime';
import type { SystemFacts } from '../node/facts.ts';
import type { Host } from './host.ts';
import { systemHostFiles } from './system-files.ts';
import { systemProcesses } from './system-processes.ts';

const LISTENERS_MS = 1_000;

/** The kernel goes through all its sockets for one answer: nodes that ask at about the same time share it. */
function shared<T>(read: () => T, ms: number): () => T {
  let answer: { readonly value: T; readonly at: number } | undefined;
  return () => {
    const now = systemClock.now();
    if (!answer || now - answer.at >= ms) answer = { value: read(), at: now };
    return answer.value;
  };
}

/** This machine. Nodes of one process share it. */
export function systemHost(path = '/usr/local/bin:/usr/bin:/bin'): Host {
  return {
    files: systemHostFiles,
    processes: { ...systemProcesses, listeners: shared(() => systemProcesses.listeners(), LISTENERS_MS) },
    user: { uid: geteuid?.() ?? -1, gid: getegid?.() ?? -1 },
    path,
  };
}

/** What this machine has. Nodes that share it may each say that they have all of it: nothing is limited by it. */
export function systemCapacity(): Readonly<Record<string, string>> {
  return { cpu: String(availableParallelism()), memory: `${Math.floor(totalmem() / 1024)}Ki`, pods: '110' };
}

/** As Kubernetes calls them, where Node has another name. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' };

const architectureOf = (name: string): string => ARCHITECTURES[name] ?? name;

/** What this machine is. */
export function systemFacts(version: string): SystemFacts {
  return { architecture: architectureOf(arch()), kernelVersion: release(), osImage: osImage(), version };
}

function osImage(): string {
  try {
    return /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'Linux';
  } catch {
    return 'Linux'; // the file is a custom, not a rule
  }
}
