/** Errors of the local node. What a pod does wrong is in its status and its events. */
import type { ErrorCatalog } from '@reeve/runtime';

export const localNodeErrors = {
  NODE_LAUNCH: {
    meaning: 'A process of a container could not be started at all: the machine has no room for one more.',
    remedy: 'The message has the cause. The node tries again by itself.',
  },
  NODE_ADDRESSES: {
    meaning: 'No free address for a pod was found among those of the loopback network.',
    remedy: 'Remove the folder of addresses while no pod runs; report it if that was not the cause.',
  },
  NODE_PROBE: {
    meaning: 'A probe or a hook of a container could not be asked, or was not answered in time.',
    remedy: 'Look at the pod’s events: they name the probe. Check its port and its timeout.',
  },
  NODE_HOOK: {
    meaning: 'A hook of a container failed.',
    remedy: 'Look at the pod’s events. After a failed postStart the container is restarted by its policy.',
  },
  NODE_NOT_RUNNING: {
    meaning: 'A command was to run in a container that is not running.',
    remedy: 'Wait until it runs; `reeve get pods` shows its state.',
  },
  NODE_NO_SUCH: {
    meaning: 'This node has no such pod, or the pod has no such container or no earlier run.',
    remedy: 'Check the names, and that the pod is bound to this node.',
  },
  NODE_DRIVER: {
    meaning: 'A container was started in a way that this program does not know: by a newer one.',
    remedy: 'Delete the pod, or run the node by the program that began it.',
  },
  NODE_FOLDER_IN_USE: {
    meaning: 'Another process runs a node on this folder. Two of them would end each other’s pods.',
    remedy: 'Stop the other one, or give this one a folder of its own.',
  },
  VOLUME_FOREIGN: {
    meaning: 'The directory of a volume belongs to another claim, or its name is none that a volume has.',
    remedy: 'Nothing was changed. Look at what is there below the root of volumes; move it away if it is not needed.',
  },
  NODE_OPTIONS: {
    meaning: 'The node was set up in a way in which it cannot run pods.',
    remedy: 'The message names the option.',
  },
} as const satisfies ErrorCatalog;
