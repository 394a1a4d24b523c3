/** The three handlers of the sample operator. The same ones run in the operator and in agents. */
import { type AnyHandler, type DoneCheck, done, failed, type Handler, type Outcome, stale } from '@reeve/runtime';
import type { Resize, Step } from './api.ts';
import type { PodWorld, Speaker } from './world.ts';

export interface Context {
  readonly world: PodWorld;
  readonly speaker: Speaker;
  /** Called when a pod is about to be added or removed: nothing else may run. */
  onResize(): void;
}

const STEP_MS = 4_000;
const SLICE_MS = 1_000;
/** Work does not stop in the moment it is told to. */
const STOP_MS = 300;

/** One contact with the world. */
function contact<T>({ speaker }: Context, label: string, detail: string, apply: () => T): Promise<T> {
  return speaker.life.effect(label, { detail, latencyMs: 1, apply });
}

const resize: Handler<Resize, Context> = {
  type: 'resize',
  async run({ pod, removes }, context) {
    return contact(context, 'pod.resize', pod, (): Outcome => {
      const { world, speaker } = context;
      world.hear(speaker);
      const now = world.pods.get(pod);
      if (removes ? now === undefined : now !== undefined) return done;
      if (removes && now?.uid !== removes.uid) return stale(`${pod} is another pod`);
      context.onResize();
      if (removes) world.remove(pod, removes.uid);
      else world.add(pod);
      return done;
    });
  },
};

function step(type: Step['type']): Handler<Step, Context> {
  const ask = ({ task, pod, uid }: Step, context: Context) =>
    contact(context, `pod.ask ${type}`, pod, () => context.world.ask(context.speaker, pod, uid, `${type} ${task}`));
  return {
    type,
    async run(command, context, signal) {
      const { task, pod, uid } = command;
      const before = await ask(command, context);
      if (before === 'done') return done;
      if (before === 'replaced') return failed('ORDER_POD_REPLACED', `${pod} is another pod`);
      const { world, speaker } = context;
      // An outcome says that nothing goes on: what may have begun is stopped first, also if only the answer was lost.
      const still = (): Promise<void> =>
        surely(context, () => contact(context, `pod.stop ${type}`, pod, () => world.stop(speaker, pod, uid, task)));
      try {
        await contact(context, `pod.begin ${type}`, pod, () => world.begin(speaker, pod, uid, { verb: type, task }));
      } catch (error) {
        await still();
        throw error;
      }
      let slices = 0;
      const work = async (): Promise<Outcome> => {
        const { clock } = speaker.life.ports;
        try {
          for (; slices * SLICE_MS < STEP_MS; slices++) await clock.sleep(SLICE_MS, signal);
        } catch {
          await clock.sleep(STOP_MS);
          await still();
          return failed('STOPPED', 'it was stopped');
        }
        try {
          await contact(context, `pod.finish ${type}`, pod, () => world.finish(speaker, pod, uid, `${type} ${task}`));
        } catch (error) {
          await still();
          throw error;
        }
        return done;
      };
      return { progress: () => ({ done: slices, total: STEP_MS / SLICE_MS, unit: 's' }), settled: work() };
    },
    async isDone(command, context): Promise<DoneCheck> {
      const answer = await ask(command, context);
      return answer === 'done' ? 'done' : 'not-done';
    },
  };
}

export const handlers: readonly AnyHandler<Context>[] = [resize, step('clean'), step('snapshot')];

/** Until it worked: a stop that got lost would leave work behind that nobody owns. */
export async function surely(context: Context, action: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if ((error as { code?: string }).code === 'POD_REFUSED') return;
      await context.speaker.life.ports.clock.sleep(100);
    }
  }
}
