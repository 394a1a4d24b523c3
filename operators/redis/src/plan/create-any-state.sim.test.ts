/**
 * Create from any state that a crash can leave: a small world of nodes with handshakes, gossip and restarts, in which
 * commands are carried out in part, observations come at any moment, and the plan knows nothing but goal and view.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReached } from '@reeve/runtime';
import fc from 'fast-check';
import type { RedisCommand } from '../api/commands.ts';
import { isRefused } from '../api/operation.ts';
import { formatSlots, parseSlots, unionSlots } from '../api/slots.ts';
import type { ClusterView, Endpoint, NodeId, NodeLine } from '../api/view.ts';
import { checkCluster, isClean } from './check.ts';
import { type CreateGoal, createOperation } from './create.ts';
import { freshNode, idOf, viewOfNodes } from './testing.ts';

interface Server {
  readonly id: NodeId;
  readonly endpoint: Endpoint;
  slots: string;
  epoch: number;
  role: 'primary' | 'replica';
  primaryId: NodeId | undefined;
  linkUp: boolean;
  down: boolean;
  readonly knows: Set<NodeId>;
  /** Nodes that it is shaking hands with. */
  readonly shaking: Set<NodeId>;
}

/** Numbers from a seed: the choices of one run. */
class Choices {
  #state: number;
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }
  chance(probability: number): boolean {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state / 2 ** 32 < probability;
  }
}

class World {
  readonly servers: readonly Server[];
  readonly #choices: Choices;
  /** Part of what is asked gets lost while this is above 0. */
  trouble = 0.5;

  constructor(count: number, seed: number) {
    this.#choices = new Choices(seed);
    this.servers = Array.from({ length: count }, (_, i) => ({
      id: idOf(`n${i}`),
      endpoint: { host: `10.0.0.${i + 1}`, port: 7000 },
      slots: '',
      epoch: 0,
      role: 'primary',
      primaryId: undefined,
      linkUp: false,
      down: false,
      knows: new Set(),
      shaking: new Set(),
    }));
  }

  get(id: NodeId): Server {
    const server = this.servers.find((each) => each.id === id);
    assert.ok(server);
    return server;
  }

  view(): ClusterView {
    return viewOfNodes(
      this.servers.map((server) =>
        freshNode('', {
          id: server.id,
          host: server.endpoint.host,
          annotations: { host: server.endpoint.host },
          slots: server.slots,
          epoch: server.epoch,
          role: server.role,
          ...(server.primaryId === undefined ? {} : { primaryId: server.primaryId }),
          linkUp: server.linkUp,
          knows: [...server.knows],
          ...(server.down ? { unreachable: 'refused' } : {}),
          report: (report) => ({ ...report, others: [...report.others, ...this.#handshakes(server, report.self)] }),
        }),
      ),
    );
  }

  #handshakes(server: Server, self: NodeLine): readonly NodeLine[] {
    return [...server.shaking].map((id, i) => {
      const { host, port } = this.get(id).endpoint;
      return { ...self, id: idOf(`made-up-${i}`), host, port, flags: ['handshake'], slots: [] };
    });
  }

  /** Carries a command out as a server would, or only in part. What a server would refuse is a fault of the plan. */
  run(command: RedisCommand): void {
    switch (command.type) {
      case 'assign-slots': {
        const server = this.get(command.node.id);
        assert.equal(server.knows.size + server.shaking.size, 0, 'slots are assigned to nodes that are alone');
        if (this.#works(server)) server.slots = command.slots;
        break;
      }
      case 'claim-slots': {
        const server = this.get(command.owner.id);
        const slots = unionSlots(parseSlots(server.slots) ?? [], parseSlots(command.slots) ?? []);
        if (this.#works(server)) server.slots = formatSlots(slots);
        break;
      }
      case 'set-epochs':
        for (const { node, epoch } of command.epochs) {
          const server = this.get(node.id);
          assert.equal(server.knows.size + server.shaking.size, 0, 'epochs are set on nodes that are alone');
          assert.equal(server.epoch, 0);
          if (this.#works(server)) server.epoch = epoch;
        }
        break;
      case 'meet':
        for (const { from, to } of command.pairs) {
          const server = this.get(from.id);
          assert.ok(!server.knows.has(to.id));
          if (this.#works(server)) server.shaking.add(to.id);
        }
        break;
      case 'replicate': {
        const server = this.get(command.replica.id);
        assert.ok(server.knows.has(command.primary.id), 'a replica knows its primary');
        assert.equal(server.slots, '', 'a replica owns nothing');
        assert.ok(command.mustBeEmpty);
        if (this.#works(server))
          Object.assign(server, { role: 'replica', primaryId: command.primary.id, linkUp: false });
        break;
      }
      default:
        assert.fail(`create never asks for ${command.type}`);
    }
  }

  #works(server: Server): boolean {
    return !server.down && !this.#choices.chance(this.trouble);
  }

  /** Some time passes: handshakes end well or not, gossip spreads, links come up, nodes die and come back. */
  pass(): void {
    for (const server of this.servers) {
      if (server.down ? this.#choices.chance(0.5) : this.#choices.chance(this.trouble / 10)) server.down = !server.down;
      if (this.trouble === 0) server.down = false;
      if (server.down) server.shaking.clear();
    }
    for (const server of this.servers.filter((each) => !each.down)) {
      for (const id of [...server.shaking]) {
        const peer = this.get(id);
        if (!this.#choices.chance(0.5)) continue;
        server.shaking.delete(id);
        if (peer.down || this.#choices.chance(this.trouble)) continue;
        server.knows.add(id);
        // The other side answers with a handshake of its own, which may also fail.
        if (!peer.knows.has(server.id)) peer.shaking.add(server.id);
      }
      for (const id of [...server.knows]) {
        const peer = this.get(id);
        if (peer.down || !peer.knows.has(server.id)) continue;
        for (const third of peer.knows) {
          if (third !== server.id && !server.knows.has(third) && this.#choices.chance(0.2)) server.shaking.add(third);
        }
      }
      const primary = server.primaryId === undefined ? undefined : this.get(server.primaryId);
      if (primary) server.linkUp = !primary.down && (server.linkUp || this.#choices.chance(0.5));
    }
  }
}

function assertMade(world: World, goal: CreateGoal): void {
  for (const member of goal.members) {
    const server = world.get(member.id);
    assert.equal(server.role, member.role);
    assert.equal(server.slots, member.slots ?? '');
    assert.equal(server.primaryId, member.primaryId);
    assert.equal(server.epoch, member.epoch);
  }
}

test('reaches the goal from whatever state crashes, losses and restarts leave, and asks no server for what it would refuse', () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 3, max: 9 }), fc.nat({ max: 40 }), (seed, count, troubled) => {
      const world = new World(count, seed);
      const replicasPerPrimary = count >= 6 ? 1 : 0;
      const decision = createOperation.decide(
        { endpoints: world.servers.map(({ endpoint }) => endpoint), replicasPerPrimary, spreadBy: ['host'] },
        world.view(),
      );
      assert.ok(!isRefused(decision));
      const { goal } = decision;
      for (let turn = 0; turn < troubled + 200; turn++) {
        if (turn === troubled) world.trouble = 0;
        const plan = createOperation.plan(goal, world.view(), goal.startedAt, []);
        assert.deepEqual(plan.refused ?? [], []);
        if (turn >= troubled && isReached(plan)) {
          assertMade(world, goal);
          assert.ok(isClean(checkCluster(world.view(), { replicasPerPrimary, spreadBy: ['host'] })));
          return;
        }
        for (const command of plan.commands) world.run(command);
        world.pass();
      }
      assert.fail('not reached in 200 quiet turns');
    }),
    { numRuns: 60 },
  );
});

test('asking again without the journal, after a crash at any turn, decides the same goal', () => {
  fc.assert(
    fc.property(fc.integer(), fc.nat({ max: 30 }), (seed, turns) => {
      const world = new World(6, seed);
      const request = {
        endpoints: world.servers.map(({ endpoint }) => endpoint),
        replicasPerPrimary: 1,
        spreadBy: ['host'],
      };
      const first = createOperation.decide(request, world.view());
      assert.ok(!isRefused(first));
      world.trouble = 0.2;
      for (let turn = 0; turn < turns; turn++) {
        for (const command of createOperation.plan(first.goal, world.view(), 1_000, []).commands) world.run(command);
        world.pass();
      }
      for (const server of world.servers) server.down = false;
      const second = createOperation.decide(request, world.view());
      assert.ok(!isRefused(second), JSON.stringify(second));
      assert.deepEqual(second.goal, first.goal);
    }),
    { numRuns: 40 },
  );
});
