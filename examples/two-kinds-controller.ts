/**
 * A controller of two kinds, as in the drawing that Reeve's runtime began with: kind A has one queue with two types of worker, kind B has
 * two queues with a worker each, and each resource has an observer that brings it back to work when the real world changed.
 */
import { type KubeObject, resource } from '@reeve/kube';
import { Controller, type Parts, type Reconcile } from '@reeve/runtime/manager';

export interface Shape extends KubeObject {
  readonly spec?: { readonly color?: string };
  readonly status?: { readonly painted?: string };
}

const shapes = { group: 'examples.reeve.dev', version: 'v1', namespaced: true } as const;
export const kindA = resource<Shape>({ ...shapes, plural: 'circles', kind: 'Circle' });
export const kindB = resource<Shape>({ ...shapes, plural: 'squares', kind: 'Square' });

/** The real world: what color things really have. */
export interface Workshop {
  colorOf(name: string): Promise<string | undefined>;
  paint(name: string, color: string, by: string): Promise<void>;
}

export class ShapeController extends Controller<Shape> {
  readonly #workshop: Workshop;

  constructor(workshop: Workshop) {
    super({ name: 'shapes' });
    this.#workshop = workshop;
  }

  override setUp(parts: Parts): void {
    // Kind A: one queue. Which type of worker a key is for is asked when it is its turn, by the state of its object.
    const queueA = parts.queue('a', {
      routes: ['red', 'other'],
      routeOf: (key) => (a.cache.get(key)?.spec?.color === 'red' ? 'red' : 'other'),
    });
    const a = parts.reflect(kindA, { route: () => queueA });
    parts.work({ of: a, queues: [queueA], route: 'red', reconcile: (work) => this.#paint(work, 'red painter') });
    parts.work({ of: a, queues: [queueA], route: 'other', reconcile: (work) => this.#paint(work, 'painter') });

    // Kind B: two queues. The reflector decides into which one a resource goes, by its state.
    const urgent = parts.queue('b-urgent');
    const calm = parts.queue('b-calm');
    const b = parts.reflect(kindB, { route: ({ spec }) => (spec?.color === 'red' ? urgent : calm) });
    parts.work({ of: b, queues: [urgent], reconcile: (work) => this.#paint(work, 'fast painter') });
    parts.work({ of: b, queues: [calm], reconcile: (work) => this.#paint(work, 'slow painter') });

    for (const shape of [a, b]) {
      parts.observe({
        of: shape,
        everyMs: 10_000,
        observe: async ({ metadata }) => (await this.#workshop.colorOf(metadata.name)) ?? 'none',
        wakes: (color, { status }) => status?.painted !== undefined && color !== status.painted,
      });
    }
  }

  /** First the real world, then the status. What an observer sees in between does not count. */
  async #paint({ object, status }: Reconcile<Shape>, by: string): Promise<void> {
    const color = object.spec?.color ?? 'white';
    const { name } = object.metadata;
    if ((await this.#workshop.colorOf(name)) !== color) await this.#workshop.paint(name, color, by);
    await status({ painted: color });
  }
}
