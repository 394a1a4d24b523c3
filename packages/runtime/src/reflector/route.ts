/**
 * From events to queues. The route decides, object by object, where a key goes: one kind can go different ways by its state, one
 * event can wake several controllers or none.
 */
import { ReeveError } from '../errors/errors.ts';
import type { AddOptions, WorkQueue } from '../queue/queue.ts';
import type { DeepReadonly, ResourceEvent } from '../resource/resource.ts';

export interface Destination extends AddOptions {
  readonly queue: string;
  /** Default: the key of the object. All events of a cluster can go to the cluster's key. */
  readonly key?: string;
  readonly afterMs?: number;
}

/** Names the queue or queues for an event; nothing: this event is of no interest. */
export type Route<P> = (
  object: DeepReadonly<P>,
  event: ResourceEvent<P>,
) => string | Destination | readonly (string | Destination)[] | undefined;

/** Adds the key of each event to the queues that the route names, until the events end. */
export async function routeEvents<P>(
  events: AsyncIterable<ResourceEvent<P>>,
  route: Route<P>,
  queues: Readonly<Record<string, WorkQueue>>,
): Promise<void> {
  for await (const event of events) deliver(event, route, queues);
}

/** The same for one event. */
export function deliver<P>(
  event: ResourceEvent<P>,
  route: Route<P>,
  queues: Readonly<Record<string, WorkQueue>>,
): void {
  for (const to of destinationsOf(route(event.object, event))) {
    const queue = queues[to.queue];
    if (!queue) throw new ReeveError('QUEUE_UNKNOWN', `there is no queue ${to.queue}`, { subjects: [event.key] });
    const key = to.key ?? event.key;
    const lane = to.lane === undefined ? {} : { lane: to.lane };
    if (to.afterMs === undefined) queue.add(key, lane);
    else queue.addAfter(key, to.afterMs, lane);
  }
}

function destinationsOf(answer: ReturnType<Route<never>>): readonly Destination[] {
  if (answer === undefined) return [];
  const list = Array.isArray(answer) ? (answer as readonly (string | Destination)[]) : [answer as string | Destination];
  return list.map((one) => (typeof one === 'string' ? { queue: one } : one));
}
