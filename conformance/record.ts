/** Runs the steps of one case on one server and writes down what it answers. */
import { type Json, parseJson, stringifyJson } from '@reeve/kube';
import type { Asker, Call, Case, Change, Collect, Open, Step } from './case.ts';
import { merged } from './merged.ts';
import type { Server } from './server.ts';
import { Timeline } from './timeline.ts';
import { type Reply, Watch, type Wire } from './wire.ts';

export interface Recorded {
  /** The request, as it stands in the case. */
  readonly step: string;
  readonly code?: number;
  /** Unless it is JSON. */
  readonly contentType?: string;
  readonly warnings?: readonly string[];
  readonly retryAfter?: string;
  readonly body?: Json;
  readonly events?: readonly Json[];
  /** How the recording of events came to its end. */
  readonly ended?: 'as wanted' | 'stream ended' | 'too late';
}

export interface Recording {
  readonly recorded: readonly Recorded[];
  /** Codes that are not what the case says of the real server. */
  readonly surprises: readonly string[];
  readonly timeline: Timeline;
}

export interface Names {
  readonly id: string;
  readonly ns: string;
  readonly group: string;
}

const EVENTS_MS = 30_000;
const BACKGROUND_MS = 30_000;
const AGAIN_MS = 50;

const CONTENT = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

export async function record(one: Case, server: Server, names: Names): Promise<Recording> {
  using recorder = new Recorder(server, names);
  await recorder.prepare(one);
  recorder.start();
  for (const step of one.steps) await recorder.run(step);
  return recorder;
}

class Recorder implements Recording, Disposable {
  readonly recorded: Recorded[] = [];
  readonly surprises: string[] = [];
  readonly #server: Server;
  readonly #wire: Wire;
  readonly #names: Names;
  readonly #saved = new Map<string, Readonly<Record<string, Json>>>();
  readonly #watches = new Map<string, Watch>();
  timeline = new Timeline(Date.now());

  constructor(server: Server, names: Names) {
    this.#server = server;
    this.#wire = server.wire;
    this.#names = names;
  }

  async prepare({ definition }: Case): Promise<void> {
    await this.#server.namespace(this.#names.ns);
    if (definition !== undefined) await this.#server.define(this.#filled(definition));
  }

  /** What was prepared may have the time of now; the first step must not. */
  start(): void {
    this.timeline = new Timeline(Date.now());
  }

  async run(step: Step): Promise<void> {
    const writes = 'change' in step || ('method' in step && step.method !== 'GET');
    if (writes) await this.#nextSecond();
    await this.#perform(step);
    this.timeline.passed(Date.now(), writes);
  }

  async #nextSecond(): Promise<void> {
    const { next } = this.timeline;
    // A timer may come a little early.
    while (Date.now() < next) await new Promise((resolve) => setTimeout(resolve, next - Date.now() + 1));
    this.timeline.begin(this.recorded.length, Date.now());
  }

  async #perform(step: Step): Promise<void> {
    if ('collect' in step) return this.#collect(step);
    if ('open' in step) return this.#open(step);
    if ('change' in step) return this.#change(step);
    return this.#call(step);
  }

  [Symbol.dispose](): void {
    for (const watch of this.#watches.values()) watch[Symbol.dispose]();
  }

  async #call(call: Call): Promise<void> {
    const step = `${call.method} ${call.path}`;
    const send = (): Promise<Reply> =>
      this.#wire.send({
        method: call.method,
        path: this.#path(call),
        headers: { ...contentType(call), ...call.headers, ...this.#asker(call) },
        ...(call.body === undefined ? {} : { body: this.#text(call.body) }),
        ...this.#token(call),
      });
    let reply = await send();
    for (const end = Date.now() + BACKGROUND_MS; call.until !== undefined && Date.now() < end; reply = await send()) {
      if (reply.code === (call.code ?? 200) && tellsOf(reply).includes(this.#fill(call.until))) break;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
    this.#note(step, reply, call);
  }

  async #change({ change, path, subresource, ...asked }: Change): Promise<void> {
    const live = await this.#wire.send({ method: 'GET', path: this.#fill(path) });
    const whole = subresource === undefined ? path : `${path}/${subresource}`;
    if (live.code >= 300) return this.#note(`PUT ${whole}`, live, asked);
    const changed = merged(JSON.parse(live.text) as Json, JSON.parse(this.#text(change)) as Json);
    const reply = await this.#wire.send({
      method: 'PUT',
      path: this.#path({ ...asked, path: whole }),
      headers: { 'content-type': 'application/json', ...this.#asker(asked) },
      body: JSON.stringify(changed),
      ...this.#token(asked),
    });
    this.#note(`PUT ${whole}`, reply, asked);
  }

  async #open(open: Open): Promise<void> {
    const query = { watch: 'true', ...open.query };
    const opened = await this.#wire.open({
      method: 'GET',
      path: this.#path({ path: open.path, query }),
      headers: { ...open.headers, ...this.#asker(open) },
      ...this.#token(open),
    });
    const step = `WATCH ${open.path}`;
    if (!(opened instanceof Watch)) return this.#note(step, opened, open);
    this.#watches.set(open.open, opened);
    if (open.code !== undefined && open.code !== 200) this.surprises.push(`${step}: opened, expected ${open.code}`);
    this.recorded.push({ step, code: 200, ...heads(opened.headers) });
  }

  async #collect({ collect, until }: Collect): Promise<void> {
    const step = `EVENTS ${collect}`;
    const watch = this.#watches.get(collect);
    if (watch === undefined) return void this.surprises.push(`${step}: it was not opened`);
    const isWanted = wanted(until, (text) => this.#fill(text));
    const found = await watch.until(
      (one) => (until === 'end' ? one.isEnded : isWanted(one.events as Event[])),
      EVENTS_MS,
    );
    const ended = found ? 'as wanted' : watch.isEnded ? 'stream ended' : 'too late';
    if (!found) this.surprises.push(`${step}: ${ended}`);
    const events = watch.events.splice(
      0,
      until === 'end' ? watch.events.length : take(watch.events as Event[], isWanted),
    );
    this.recorded.push({ step, events: events.filter((one) => !isTimed(one as Event)) as Json[], ended });
  }

  #note(step: string, reply: Reply, { code, any, save }: Pick<Call, 'code' | 'any' | 'save'>): void {
    const { body, isJson } = parsed(reply.text);
    if (!any && (code === undefined ? reply.code >= 300 : reply.code !== code)) {
      this.surprises.push(`${step}: ${reply.code}, expected ${code ?? 'a success'}: ${reply.text.slice(0, 500)}`);
    }
    if (save !== undefined && isJson) {
      const { metadata, status } = body as { metadata?: Record<string, Json>; status?: { token?: Json } };
      this.#saved.set(save, { ...metadata, token: status?.token ?? '' });
    }
    this.recorded.push({ step, code: reply.code, ...heads(reply.headers), body });
  }

  #asker({ as, groups = [] }: Asker): Readonly<Record<string, string | readonly string[]>> {
    if (as === undefined) return {};
    return {
      'impersonate-user': this.#fill(as),
      ...(groups.length === 0 ? {} : { 'impersonate-group': groups.map((group) => this.#fill(group)) }),
    };
  }

  #token({ token }: Asker): { readonly token?: string } {
    return token === undefined ? {} : { token: this.#fill(token) };
  }

  #path({ path, query = {} }: { readonly path: string; readonly query?: Readonly<Record<string, string>> }): string {
    const filled = Object.entries(query).map(([name, value]) => [name, this.#fill(value)]);
    const text = new URLSearchParams(filled as [string, string][]).toString();
    return this.#fill(path) + (text === '' ? '' : `${path.includes('?') ? '&' : '?'}${text}`);
  }

  #text(body: Json): string {
    return this.#fill(typeof body === 'string' ? body : stringifyJson(body));
  }

  #filled(body: Json): Json {
    return parseJson(this.#text(body));
  }

  #fill(text: string): string {
    return text.replace(/<(\w+)(?:\.(\w+))?>/g, (whole, name: string, field: string | undefined) => {
      if (field === undefined) return this.#names[name as keyof Names] ?? whole;
      const value = this.#saved.get(name)?.[field];
      return typeof value === 'string' ? value : whole;
    });
  }
}

const tellsOf = ({ text, headers }: Reply): string => `${text} ${headers.warning ?? ''}`;

function contentType({ method, patch, body }: Call): Readonly<Record<string, string>> {
  if (body === undefined) return {};
  return { 'content-type': method === 'PATCH' && patch !== undefined ? CONTENT[patch] : 'application/json' };
}

type Heads = Pick<Recorded, 'contentType' | 'warnings' | 'retryAfter'>;

function heads(headers: Reply['headers']): Heads {
  const type = headers['content-type'] ?? 'none';
  const warning = headers.warning as string | undefined;
  return {
    ...(type === 'application/json' ? {} : { contentType: type }),
    ...(warning === undefined ? {} : { warnings: warning.split(/, (?=299 )/) }),
    ...(headers['retry-after'] === undefined ? {} : { retryAfter: headers['retry-after'] }),
  };
}

/** A fraction, an exponent, or many digits. */
const UNUSUAL = /[\d][.eE][\d+-]|\d{16}|-0/;

/** Numbers that are not written as this machine would write them stay texts: nothing of an answer is lost. */
function parsed(text: string): { readonly body: Json; readonly isJson: boolean } {
  try {
    if (!UNUSUAL.test(text)) return { body: JSON.parse(text) as Json, isJson: true };
    const reviver = (_: string, value: unknown, { source }: { source?: string } = {}): unknown =>
      typeof value === 'number' && source !== undefined && source !== String(value) ? `number ${source}` : value;
    return { body: JSON.parse(text, reviver as Parameters<typeof JSON.parse>[1]) as Json, isJson: true };
  } catch {
    return { body: text.trim(), isJson: false };
  }
}

interface Event {
  readonly type: string;
  readonly object: { readonly metadata?: { readonly name?: string; readonly annotations?: Record<string, string> } };
}

const isInitialEnd = ({ object }: Event): boolean =>
  object.metadata?.annotations?.['k8s.io/initial-events-end'] === 'true';

/** Bookmarks come when time has passed, so they come differently to everybody; the one after initial events does not. */
const isTimed = (event: Event): boolean => event.type === 'BOOKMARK' && !isInitialEnd(event);

function wanted(until: Collect['until'], fill: (text: string) => string): (events: readonly Event[]) => boolean {
  if (until === 'end') return () => false;
  if (until === 'initial') return (events) => events.some((one) => one.type === 'BOOKMARK' && isInitialEnd(one));
  if ('events' in until) return (events) => events.filter((one) => !isTimed(one)).length >= until.events;
  const { name, type } = until;
  return (events) =>
    events.some((one) => one.object.metadata?.name === fill(name) && (type === undefined || one.type === type));
}

/** How many events it takes for the condition to hold: what comes after them belongs to the next recording. */
function take(events: readonly Event[], isWanted: (events: readonly Event[]) => boolean): number {
  for (let count = 1; count < events.length; count++) if (isWanted(events.slice(0, count))) return count;
  return events.length;
}
