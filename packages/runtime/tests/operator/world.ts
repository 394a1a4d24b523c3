/** The real world of the sample operator: pods with data, which do long work and remember what they did. */
import type { Incarnation } from '@reeve/simulation';

export interface Work {
  readonly verb: string;
  /** The uid of the task that it is for. */
  readonly task: string;
  readonly life: Incarnation;
}

export interface Pod {
  readonly name: string;
  readonly uid: string;
  work: Work | undefined;
  /** `verb task` of everything that it finished: where it ran, the outcome is durable. */
  readonly finished: Set<string>;
  /** It listens to nobody who is older than whom it has heard. */
  fence: number;
}

/** What an operator or an agent says who it is. */
export interface Speaker {
  readonly life: Incarnation;
  /** Grows from life to life. */
  readonly epoch: number;
}

export class Refused extends Error {
  readonly code = 'POD_REFUSED';
  readonly subjects: readonly string[] = [];
}

export class PodWorld {
  readonly pods = new Map<string, Pod>();
  /** What happened, for checks and for people. */
  readonly history: string[] = [];
  readonly #broken: (rule: string, message: string) => void;
  #uids = 0;
  #fence = 0;

  constructor(broken: (rule: string, message: string) => void) {
    this.#broken = broken;
  }

  /** What an operator sees. Whoever looks is heard from now on, and no operator before. */
  look(speaker: Speaker): readonly { readonly name: string; readonly uid: string }[] {
    this.hear(speaker);
    return [...this.pods.values()].map(({ name, uid }) => ({ name, uid }));
  }

  /** Pods are added and removed by the operator of today: what one of the past has sent may still be on its way. */
  hear({ epoch }: Speaker): void {
    if (epoch < this.#fence) throw new Refused(`an operator of ${this.#fence} was heard, and ${epoch} is older`);
    this.#fence = epoch;
  }

  add(name: string): void {
    if (this.pods.has(name)) return;
    this.pods.set(name, { name, uid: `pod-uid-${++this.#uids}`, work: undefined, finished: new Set(), fence: 0 });
    this.history.push(`add ${name}`);
  }

  /** Also what a power cut does. */
  remove(name: string, uid: string): void {
    if (this.pods.get(name)?.uid !== uid) return;
    this.pods.delete(name);
    this.history.push(`remove ${name}`);
  }

  /** Whether the pod finished it. Whoever asks is heard from now on, and nobody before. */
  ask(speaker: Speaker, name: string, uid: string, step: string): 'done' | 'not-done' | 'replaced' {
    const pod = this.pods.get(name);
    if (pod?.uid !== uid) return 'replaced';
    this.#hear(pod, speaker);
    return pod.finished.has(step) ? 'done' : 'not-done';
  }

  begin(speaker: Speaker, name: string, uid: string, work: Omit<Work, 'life'>): void {
    const pod = this.#podOf(name, uid);
    this.#hear(pod, speaker);
    const step = `${work.verb} ${work.task}`;
    if (pod.finished.has(step)) this.#broken('REPEATED', `${name} has finished ${step} and begins it again`);
    if (isLive(pod.work) && pod.work?.task !== work.task) {
      this.#broken('EXCLUSION', `${name} works for ${pod.work?.task} and begins ${step}`);
    }
    pod.work = { ...work, life: speaker.life };
    this.history.push(`begin ${name} ${step}`);
  }

  finish(speaker: Speaker, name: string, uid: string, step: string): void {
    const pod = this.#podOf(name, uid);
    this.#hear(pod, speaker);
    pod.work = undefined;
    pod.finished.add(step);
    this.history.push(`finish ${name} ${step}`);
  }

  /** Nothing of it goes on, and nothing that is on its way begins any more. */
  stop(speaker: Speaker, name: string, uid: string, task: string): void {
    const pod = this.pods.get(name);
    if (pod?.uid !== uid) return;
    this.#hear(pod, speaker);
    if (pod.work?.task === task) pod.work = undefined;
    this.history.push(`stop ${name} ${task}`);
  }

  /** What is being worked on by somebody who lives. */
  live(): readonly { readonly pod: string; readonly work: Work }[] {
    return [...this.pods.values()].flatMap(({ name, work }) => (work && isLive(work) ? [{ pod: name, work }] : []));
  }

  #podOf(name: string, uid: string): Pod {
    const pod = this.pods.get(name);
    if (pod?.uid !== uid) throw new Refused(`${name} is another pod`);
    return pod;
  }

  #hear(pod: Pod, { epoch }: Speaker): void {
    if (epoch < pod.fence) throw new Refused(`${pod.name} has heard ${pod.fence}, and ${epoch} is older`);
    pod.fence = epoch;
  }
}

function isLive(work: Work | undefined): boolean {
  return work?.life.alive === true;
}
