/**
 * Pods share the addresses of one machine: a program that listens on all of them takes its port from every other pod, and may be
 * reached from outside. Such a container is ended, unless its pod is meant to have the machine's network.
 */
import type { Host } from '../host/host.ts';
import type { Listener } from '../host/listeners.ts';
import type { ProcessScan, Runs } from '../shim/runs.ts';
import type { ContainerKeeper } from './container-keeper.ts';
import type { PodKeeper } from './pod-keeper.ts';

export const WILDCARD_REASON = 'WildcardListener';

export class Wildcards {
  readonly #host: Host;
  readonly #runs: Runs;
  /** Sockets that belong to nobody here. A socket does not change hands. */
  #foreign = new Set<string>();
  /** All of the last look. */
  #seen: ReadonlySet<string> = new Set();

  constructor(host: Host, runs: Runs) {
    this.#host = host;
    this.#runs = runs;
  }

  /** Marks containers that listen on all addresses. Returns the pods concerned. */
  look(pods: readonly PodKeeper[]): readonly PodKeeper[] {
    const all = this.#lasting(this.#host.processes.listeners().filter(({ isWildcard }) => isWildcard));
    const fresh = all.filter(({ inode }) => !this.#foreign.has(inode));
    if (fresh.length === 0) {
      this.#foreign = new Set(all.map(({ inode }) => inode));
      return [];
    }
    const offenders: PodKeeper[] = [];
    const owned = new Set<string>();
    const scan = this.#runs.scan();
    for (const pod of pods) {
      for (const container of pod.containers.values()) {
        const sockets = this.#socketsOf(container, scan);
        const found = fresh.find(({ inode }) => sockets.has(inode));
        for (const { inode } of fresh) if (sockets.has(inode)) owned.add(inode);
        if (!found || pod.pod.spec?.hostNetwork || container.offence) continue;
        container.offence = { reason: WILDCARD_REASON, message: messageOf(container, found, pod.address ?? '') };
        offenders.push(pod);
      }
    }
    this.#foreign = new Set(all.map(({ inode }) => inode).filter((inode) => !owned.has(inode)));
    return offenders;
  }

  /** Who only asks by a datagram, from a port of its own choice, has its socket for a moment: a service is there twice. */
  #lasting(all: readonly Listener[]): readonly Listener[] {
    const before = this.#seen;
    this.#seen = new Set(all.map(({ inode }) => inode));
    return all.filter(({ protocol, inode }) => protocol === 'tcp' || before.has(inode));
  }

  #socketsOf(container: ContainerKeeper, scan: ProcessScan): ReadonlySet<string> {
    const { latest } = container;
    if (!latest || !container.isLive) return new Set();
    const rows = this.#runs.processesOf(container.keyOf(latest.attempt), latest, scan);
    return new Set(rows.flatMap(({ pid }) => this.#host.processes.sockets(pid)));
  }
}

function messageOf({ name }: ContainerKeeper, { protocol, port }: Listener, address: string): string {
  return (
    `Container ${name} listens on port ${port}${protocol === 'udp' ? ' (UDP)' : ''} of every address of the machine, which takes it from all other pods; ` +
    `let it listen on ${address} only (POD_IP), or give the pod hostNetwork: true`
  );
}
