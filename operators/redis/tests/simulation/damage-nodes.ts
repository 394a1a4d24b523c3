/** Clusters whose nodes, not their slots, need help: majorities lost, nodes given up, new addresses, equal epochs. */
import type { ModelServer } from '@reeve/simulation/redis';
import type { FixRequest } from '../../src/plan/fix.ts';
import type { Scene } from './stages.ts';

/** Long enough for a fix to be done with it, short enough for what follows to happen in the same run. */
const AWAY_MS = 30_000;
const CUT_MS = 4_000;
const NEW_PORTS = 100;
/** Of the last primary. */
const SLOT_WITHOUT_KEYS = '16383';

/** Kills them now and brings them back long after. */
function lose({ cluster: { model }, events }: Scene, servers: readonly ModelServer[]): void {
  const each = (change: (server: ModelServer) => void) => () => servers.forEach(change);
  events.begin(
    servers,
    each((server) => model.kill(server)),
    each((server) => model.restart(server)),
    AWAY_MS,
  );
}

/** Each makes the cluster ill and says what a person then asks for. */
const illnesses: readonly ((scene: Scene) => FixRequest)[] = [
  /** Two of three primaries are gone: nobody can be elected. */
  (scene) => {
    lose(scene, scene.cluster.primaries.slice(0, 2));
    return { takeover: true };
  },
  /** One primary is gone; its replica is elected, or the tool is faster. */
  (scene) => {
    lose(scene, scene.cluster.primaries.slice(0, 1));
    return { allowUnreachable: true };
  },
  /** A whole shard is gone and is given up: what it held is lost with consent. */
  (scene) => {
    const { cluster, ledger } = scene;
    const gone = [cluster.primaries[0], cluster.replicas[0]] as [ModelServer, ModelServer];
    for (const key of ledger.keys) if (gone[0].database(0).get(key, 0)) ledger.forget(key);
    lose(scene, gone);
    return { allowUnreachable: true };
  },
  /** All were started again elsewhere, and none finds another. */
  ({ cluster, events }) => {
    const all = [...cluster.primaries, ...cluster.replicas];
    for (const server of all) cluster.model.kill(server);
    for (const server of all) cluster.model.restart(server, { port: server.port + NEW_PORTS });
    events.happened = true;
    return {};
  },
  /** Two primaries that cannot hear each other took the same epoch, and a third has gone on. */
  ({ cluster: { model, primaries, settle }, events }) => {
    const [a, b, c] = primaries as [ModelServer, ModelServer, ModelServer];
    const cut = () => model.network.cut(a, b);
    events.begin([a, b], cut, () => model.network.heal(), CUT_MS);
    for (const { endpoint } of [a, b]) model.execute(endpoint, ['CLUSTER', 'BUMPEPOCH']);
    settle();
    model.execute(c.endpoint, ['CLUSTER', 'BUMPEPOCH']);
    return {};
  },
  /** Somebody made a node that the others do not hear claim a slot of theirs: two owners, until it is heard again. */
  ({ cluster: { model, primaries, replicas }, events }) => {
    const deaf = primaries[0] as ModelServer;
    const others = [...primaries, ...replicas].filter((server) => server !== deaf);
    const cut = () => others.forEach((other) => model.network.cut(deaf, other));
    events.begin([deaf], cut, () => model.network.heal(), CUT_MS);
    for (const order of ['DELSLOTS', 'ADDSLOTS']) model.execute(deaf.endpoint, ['CLUSTER', order, SLOT_WITHOUT_KEYS]);
    return {};
  },
];

export function damageNodes(scene: Scene): FixRequest {
  const illness = illnesses[scene.simulation.choices.pick(illnesses.length)];
  return illness?.(scene) ?? {};
}
