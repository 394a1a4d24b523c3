/** How a container is asked whether it is well, and told what happens to it. */
import type { Part } from './part.ts';
import { headerName, portErrors } from './rules.ts';

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'];

export function checkProbes(container: Part, grace: number | bigint): void {
  for (const field of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    for (const probe of container.maybe(field)) {
      checkHandler(probe, container, field, grace);
      probe.notNegative(
        'initialDelaySeconds',
        'timeoutSeconds',
        'periodSeconds',
        'successThreshold',
        'failureThreshold',
      );
      const wait = probe.number('terminationGracePeriodSeconds');
      if (probe.has('terminationGracePeriodSeconds') && wait <= 0) {
        probe.wrong('terminationGracePeriodSeconds', wait, 'must be greater than 0');
      }
      if (field === 'readinessProbe') {
        if (probe.has('terminationGracePeriodSeconds')) {
          probe.wrong('terminationGracePeriodSeconds', wait, 'must not be set for readinessProbes');
        }
      } else if (probe.number('successThreshold') !== 1) {
        probe.wrong('successThreshold', probe.number('successThreshold'), 'must be 1');
      }
    }
  }
}

export function checkLifecycle(container: Part, grace: number | bigint): void {
  for (const lifecycle of container.maybe('lifecycle')) {
    for (const field of ['postStart', 'preStop']) {
      for (const hook of lifecycle.maybe(field)) checkHandler(hook, lifecycle, field, grace);
    }
  }
}

/** One, and only one. */
function checkHandler(handler: Part, parent: Part, name: string, grace: number | bigint): void {
  const given = HANDLERS.filter((field) => handler.has(field));
  const [first, ...others] = given;
  if (first === undefined) parent.missing(name, 'must specify a handler type');
  for (const field of others) handler.forbid(field, 'may not specify more than 1 handler type');
  if (first === undefined) return;
  const action = handler.within(first);
  switch (first) {
    case 'exec':
      if (action.texts('command').length === 0) action.missing('command');
      break;
    case 'httpGet':
      action.needs('path');
      action.note(...portErrors(action.object.port, action.at('port')));
      if (!['HTTP', 'HTTPS'].includes(action.text('scheme'))) {
        action.unsupported('scheme', action.text('scheme'), ['HTTP', 'HTTPS']);
      }
      for (const header of action.list('httpHeaders')) {
        action.wrong('httpHeaders', header.text('name'), ...headerName(header.text('name')));
      }
      break;
    case 'tcpSocket':
    case 'grpc':
      action.note(...portErrors(action.object.port, action.at('port')));
      break;
    case 'sleep':
      checkSleep(handler, action.number('seconds'), grace);
  }
}

function checkSleep(handler: Part, seconds: number | bigint, grace: number | bigint): void {
  if (seconds >= 0 && seconds <= grace) return;
  const detail = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
  handler.wrong('sleep', seconds, detail);
}
