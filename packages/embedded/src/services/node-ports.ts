/** Ports that services get on every node. */
import { type JsonObject, numberOf } from '../object/draft.ts';
import { each } from '../kinds/defaults/fill.ts';
import type { Allocation } from '../kinds/kind.ts';
import { type FieldError, invalid } from '../status/field-error.ts';
import { internalError } from '../status/refusal.ts';
import { chosen, heldPort, isWithin } from './ranges.ts';
import { givesNodePorts } from './service.ts';

/** A dry run shows ports that nobody can have. */
const SHOWN = 32_768;

/** What one write takes. */
export class NodePorts {
  readonly #at: Allocation;
  /** What the service has already. */
  readonly #own: readonly number[];
  readonly #taken: number[] = [];

  constructor(at: Allocation, own: readonly number[]) {
    this.#at = at;
    this.#own = own;
  }

  isOwn(port: number): boolean {
    return this.#own.includes(port);
  }

  isTaken(port: number): boolean {
    return this.#taken.includes(port);
  }

  /** What is wrong with asking for it. */
  take(port: number): string | undefined {
    const { ports } = this.#at.ranges;
    if (this.#at.taken().has(heldPort(port)) || this.isTaken(port)) return 'provided port is already allocated';
    if (!this.#at.dryRun && !isWithin(ports, port)) {
      return `provided port is not in the valid range. The range of valid ports is ${ports.first}-${ports.last}`;
    }
    this.#taken.push(port);
    return undefined;
  }

  next(): number | undefined {
    const { dryRun, ranges, random, taken } = this.#at;
    const port = dryRun
      ? (this.#taken.length === 0 ? SHOWN : Math.max(...this.#taken)) + 1
      : chosen(ranges.ports, (one) => taken().has(heldPort(one)) || this.isOwn(one) || this.isTaken(one), random);
    if (port !== undefined) this.#taken.push(port);
    return port;
  }
}

export function giveNodePorts(spec: JsonObject, ports: NodePorts, isChange: boolean): readonly FieldError[] {
  const given = new Map<number, number>();
  for (const [index, port] of each(spec, 'ports').entries()) {
    const asked = numberOf(port.nodePort) ?? 0;
    if (asked === 0 && !givesNodePorts(spec)) continue;
    const wanted = isChange ? asked : askedFor(spec, port, given);
    if (wanted === 0) port.nodePort = free(ports);
    else if (
      wanted !== given.get(port.port as number) &&
      !ports.isOwn(wanted) &&
      !(isChange && ports.isTaken(wanted))
    ) {
      const why = ports.take(wanted);
      if (why !== undefined) return [invalid(`spec.ports[${index}].nodePort`, wanted, why)];
    }
    if (wanted !== 0) port.nodePort = wanted;
    given.set(port.port as number, port.nodePort as number);
  }
  return [];
}

/** In a new service the same port of several protocols has the same port on the nodes, if only one of them says which. */
function askedFor(spec: JsonObject, port: JsonObject, given: ReadonlyMap<number, number>): number {
  const asked = numberOf(port.nodePort) ?? 0;
  if (asked !== 0) return asked;
  const known = given.get(port.port as number);
  if (known !== undefined) return known;
  const later = each(spec, 'ports').find((one) => one.port === port.port && (numberOf(one.nodePort) ?? 0) !== 0);
  return later === undefined ? 0 : (later.nodePort as number);
}

function free(ports: NodePorts): number {
  const port = ports.next();
  if (port === undefined) throw internalError('failed to allocate a nodePort: range is full');
  return port;
}

export function giveHealthPort(spec: JsonObject, ports: NodePorts): void {
  const asked = numberOf(spec.healthCheckNodePort) ?? 0;
  if (asked === 0) {
    spec.healthCheckNodePort = free(ports);
    return;
  }
  const why = ports.take(asked);
  if (why !== undefined) throw internalError(`failed to allocate requested HealthCheck NodePort ${asked}: ${why}`);
}
