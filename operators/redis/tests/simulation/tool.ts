/** The tool under test as a person uses it: run it; after a crash resume from the journal; when it refuses, fix and go on. */
import { type AnyHandler, type Executor, localExecutor, ReeveError } from '@reeve/runtime';
import { type Incarnation, type Process, SimulatedFault, Violation } from '@reeve/simulation';
import type { RedisClusterModel } from '@reeve/simulation/redis';
import type { RedisCommand } from '../../src/api/commands.ts';
import type { FindingCode } from '../../src/api/findings.ts';
import type { Operation } from '../../src/api/operation.ts';
import type { Arg, RedisPort } from '../../src/api/port.ts';
import type { Endpoint } from '../../src/api/view.ts';
import { type RedisContext, redisContext } from '../../src/commands/context.ts';
import type { Environment } from '../../src/controllers/environment.ts';
import { createJournal, openJournal } from '../../src/controllers/journal.ts';
import { type Approval, resumeOperation, runOperation } from '../../src/controllers/run.ts';
import { observeCluster } from '../../src/observe/observe.ts';
import { checkCluster, isClean } from '../../src/plan/check.ts';
import { redisOf } from './redis-port.ts';
import { commandLabel } from './required.ts';

/** What the tool is made of. A planted bug replaces one of them. */
export interface Parts {
  readonly handlers: readonly AnyHandler<RedisContext>[];
  readonly fix: Operation<unknown, unknown>;
  readonly port: (port: RedisPort) => RedisPort;
  /** How an operation plans; the real one as it is. */
  readonly operation: (operation: Operation<unknown, unknown>) => Operation<unknown, unknown>;
  readonly readsJournal: boolean;
}

export interface Job {
  readonly operation: Operation<unknown, unknown>;
  /** What a person asks for, seeing the cluster as it is now; undefined when it makes no sense any more. */
  request(): unknown;
  /** Asking for it again when it was done makes sense: somebody was not there the first time. */
  readonly canBeAskedAgain?: boolean;
}

export interface ToolWorld {
  readonly model: RedisClusterModel;
  /** Addresses of members. */
  seeds(): readonly Endpoint[];
  /** Whether servers were killed, cut off or failed over: then the operation may have to give up, cleanly. */
  serversSuffered(): boolean;
  /** Whether there is anything to fix: servers that know nobody are no broken cluster. */
  isCluster(): boolean;
  /** After a crash: resume from the journal, or run the command again as if there were none. */
  readonly resumes: boolean;
  /** Called when the tool sends a command that empties a server. */
  onFlush(command: string): void;
  /** Set when the tool said that there are two values of one key. */
  inConflict: boolean;
  /** Called when the operation has decided, on what it sees, and before it begins. */
  onDecided(): void;
  /** Called when the operation has just said that it reached its goal. */
  onReached(): void;
  /** Set when the operation said that it has reached its goal. */
  reached: boolean;
  /** What the tool answered, for the report of a failing run. */
  readonly said: string[];
}

const JOURNAL = 'journal';
const PAUSE_MS = 1_000;
const MOST_ROUNDS = 20;
const PASSING: readonly FindingCode[] = ['NODE_UNREACHABLE', 'NODE_SUSPECTED', 'NODE_FAILED', 'PLACEMENT'];
/** People lose patience slowly. */
const pauseAfter = (round: number) => PAUSE_MS * Math.min(round, 6);

export function tool(world: ToolWorld, job: Job, parts: Parts): Process {
  return {
    name: 'tool',
    restartAfterMs: 300,
    run: (life) => new Person(life, world, job, parts).work(),
  };
}

/** Nothing is ever flushed, for whatever good reason. */
function watched(port: RedisPort, world: ToolWorld): RedisPort {
  const look = (args: readonly Arg[]) => {
    const command = args.slice(0, 2).join(' ').toUpperCase();
    if (/^FLUSH|^CLUSTER FLUSHSLOTS/.test(command)) world.onFlush(command);
  };
  return {
    ...port,
    call(endpoint, args, options) {
      look(args);
      return port.call(endpoint, args, options);
    },
    transaction(endpoint, commands, options) {
      for (const args of commands) look(args);
      return port.transaction(endpoint, commands, options);
    },
  };
}

class Person {
  readonly #life: Incarnation;
  readonly #world: ToolWorld;
  readonly #job: Job;
  readonly #parts: Parts;
  readonly #redis: RedisPort;
  readonly #executor: Executor<RedisCommand>;
  readonly #operation: Operation<unknown, unknown>;

  constructor(life: Incarnation, world: ToolWorld, job: Job, parts: Parts) {
    this.#life = life;
    this.#world = world;
    this.#job = job;
    this.#parts = parts;
    this.#operation = parts.operation(job.operation);
    const { clock, random } = life.ports;
    this.#redis = parts.port(watched(redisOf(life, world.model), world));
    this.#executor = localExecutor<RedisCommand, RedisContext>(
      parts.handlers,
      redisContext(this.#redis, { clock, random }),
    );
  }

  /** For one run of the tool, given the addresses that a person would give now. */
  #environment(): Environment {
    const life = this.#life;
    return {
      redis: this.#redis,
      ports: life.ports,
      executor: this.#executor,
      seeds: this.#world.seeds(),
      signal: new AbortController().signal,
      waitLimitMs: 60_000,
      report: (event) => {
        if (event.event === 'waiting') life.say(`waits: ${event.waitingFor.map((wait) => wait.message).join('; ')}`);
        if (event.event === 'started') {
          life.passes(commandLabel(event.command));
          life.say(`starts ${event.command.type}: ${event.command.why}`);
        }
        if (event.event === 'ended') life.say(`${event.command.type}: ${event.status} ${event.message ?? ''}`);
      },
    };
  }

  async work(): Promise<void> {
    for (let round = 1; !(await this.#tolerantly(() => this.#attempt())); round++) {
      if (round >= MOST_ROUNDS) {
        if (this.#world.serversSuffered()) break;
        throw new Violation('GAVE_UP', `the operation does not get through: ${this.#world.said.slice(-6).join(' | ')}`);
      }
      await this.#life.ports.clock.sleep(pauseAfter(round));
      if (await this.#tolerantly(() => this.#needsFix())) await this.#tolerantly(() => this.#fix());
      if (this.#world.inConflict) return;
    }
    // What accidents to servers leave behind is no fault of the operation; a person sees it in a check and mends it.
    const { serversSuffered } = this.#world;
    for (let round = 1; serversSuffered() && !this.#world.inConflict && round < MOST_ROUNDS; round++) {
      if (await this.#tolerantly(() => this.#isClean())) return;
      await this.#life.ports.clock.sleep(pauseAfter(round));
      await this.#tolerantly(() => this.#fix());
      if (this.#job.canBeAskedAgain && this.#job.request() !== undefined) {
        await this.#tolerantly(() => this.#life.ports.files.remove(JOURNAL).then(() => this.#attempt()));
      }
    }
  }

  /** A tool that ends with an error is started again; what is no error of the outside world is a bug. */
  async #tolerantly(action: () => Promise<boolean>): Promise<boolean> {
    try {
      return await action();
    } catch (error) {
      const isOutside = error instanceof SimulatedFault || (error instanceof ReeveError && error.code !== 'INTERNAL');
      if (!isOutside) throw error;
      this.#say(error.message);
      return false;
    }
  }

  /** Whether the operation has reached its goal. */
  async #attempt(): Promise<boolean> {
    const { files, clock } = this.#life.ports;
    const isResuming = (await files.read(JOURNAL)) !== undefined;
    if (isResuming && this.#world.resumes && this.#parts.readsJournal) {
      const stored = await openJournal(files, clock, JOURNAL);
      if (stored.reached) return this.#done('reached before');
      const end = await resumeOperation(
        this.#operation,
        stored.journal.header.goal,
        this.#environment(),
        stored.journal,
      );
      if (end.status === 'reached') return this.#done('reached');
      // The cluster went another way: only a new request makes sense. Any other refusal may pass.
      const isOvertaken = end.status === 'refused' && end.refused.some(({ code }) => code === 'GOAL_OVERTAKEN');
      if (isOvertaken) await files.remove(JOURNAL);
      this.#say(JSON.stringify({ ...end, view: undefined }));
      return this.#endsInConflict(end);
    }
    if (isResuming) await files.remove(JOURNAL);
    const request = this.#job.request();
    if (request === undefined) return this.#done('makes no sense any more');
    const approval: Approval<unknown> = {
      approve: async (proposal) => {
        this.#world.onDecided();
        return proposal.digest;
      },
      begin: (proposal) =>
        createJournal(files, clock, JOURNAL, {
          operationId: this.#life.ports.ids.next(this.#operation.kind),
          kind: this.#operation.kind,
          goal: proposal.decided.goal,
          digest: proposal.digest,
          seeds: this.#world.seeds(),
        }),
    };
    const result = await runOperation(this.#operation, request, this.#environment(), approval);
    if (result.status === 'reached' || result.status === 'nothing-to-do') return this.#done(result.status);
    this.#say(JSON.stringify({ ...result, view: undefined }));
    return this.#endsInConflict(result);
  }

  /** Two values for one key: a person must choose, the tool may not. Here the story ends. */
  #endsInConflict(end: { readonly status: string }): boolean {
    this.#world.inConflict ||= 'code' in end && end.code === 'KEY_CONFLICT';
    return this.#world.inConflict;
  }

  #done(how: string): boolean {
    this.#say(how);
    if (how === 'makes no sense any more') return true;
    this.#world.reached = true;
    if (how === 'reached') this.#world.onReached();
    return true;
  }

  async #fix(): Promise<boolean> {
    const approval: Approval<unknown> = {
      approve: async (proposal) => proposal.digest,
      begin: async () => undefined,
    };
    const result = await runOperation(this.#parts.fix, {}, this.#environment(), approval);
    this.#say(`fix: ${JSON.stringify({ ...result, view: undefined, proposal: undefined })}`);
    return this.#endsInConflict(result) || result.status === 'reached' || result.status === 'nothing-to-do';
  }

  async #isClean(): Promise<boolean> {
    const { redis, ports, seeds } = this.#environment();
    const view = await observeCluster(redis, ports, seeds, { keysBeyondSlots: true });
    return isClean(checkCluster(view));
  }

  /** A person looks before calling for a fix: nodes that are only down come back by themselves. */
  async #needsFix(): Promise<boolean> {
    if (!this.#world.isCluster()) return false;
    const { redis, ports, seeds } = this.#environment();
    const findings = checkCluster(await observeCluster(redis, ports, seeds, {}));
    return findings.some(({ code, severity }) => severity !== 'info' && !PASSING.includes(code));
  }

  #say(text: string): void {
    this.#world.said.push(text);
    this.#life.say(text);
  }
}
