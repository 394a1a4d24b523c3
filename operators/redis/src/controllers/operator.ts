/** All of the operator in one place, for programs that run operators. */
import { memberKind } from '@reeve/runtime';
import type { Runnable } from '@reeve/runtime/manager';
import { redisClusterKind } from '../api/cluster.ts';
import { redisRights } from '../api/rights.ts';
import { redisTaskKind } from '../api/task.ts';
import { RedisClusterController, type RedisOperatorOptions, type RedisOperatorPorts } from './cluster-controller.ts';
import { RedisTaskController } from './task-controller.ts';

export const redisOperator = {
  name: 'redis',
  /** What must be installed before it runs. Members are those of its agents. */
  kinds: [memberKind, redisClusterKind, redisTaskKind],
  rights: redisRights,
  controllers: (ports: RedisOperatorPorts, options: RedisOperatorOptions): readonly Runnable[] => [
    new RedisClusterController(ports, options),
    new RedisTaskController(),
  ],
} as const;
