import type { ErrorCatalog } from '@reeve/runtime';

/** Codes of what a RedisCluster or RedisTask asks for: its members, its spec, backups, upgrades. Part of `errors.ts`. */
export const resourceErrors = {
  MEMBERS_EXTERNAL: {
    meaning: 'A task asked for an upgrade or a restore of servers that somebody else runs.',
    remedy: 'Do it where these servers are run from.',
  },
  UPGRADE_REFUSED: {
    meaning: 'The server did not let the operator set the version or image that a task asks for.',
    remedy: 'The message has its reason. Set it in the spec of the RedisCluster, as somebody who may.',
  },
  MEMBERS_MANAGED: {
    meaning: 'A task asked to add or delete a node of a cluster whose pods the operator makes.',
    remedy: 'Change spec.primaries or spec.replicasPerPrimary of the RedisCluster instead.',
  },
  MEMBER_UNKNOWN: {
    meaning: 'A task named a Member that does not exist, or that does not name the cluster as its own.',
    remedy: 'Enroll it: `reeve agent enroll NAME --cluster CLUSTER …`. `kubectl get members` lists those there are.',
  },
  CONFIG_INVALID: {
    meaning: 'The spec of a RedisCluster has a configuration that no server could read as it is meant.',
    remedy: 'The message says which part. Nothing is done for the cluster until it is changed.',
  },
  AGENT_POLICY_MISSING: {
    meaning:
      'What keeps agents in pods to their own members (a ValidatingAdmissionPolicy and its binding) is not there, or refuses nothing. Agents are not given their rights: each could write for all others.',
    remedy:
      'Have an administrator apply what `reeve run --print-manifests` prints, or run `reeve run --install` once; on a server that has no such policies (Kubernetes before 1.30) set `agents: none`.',
  },
  TLS_UNFIT: {
    meaning: 'What the Secret of tls.secretName has is no certificate that servers could show each other.',
    remedy: 'The message says why. Servers go on with what they have until it is put right, or until that ends.',
  },
  TLS_WRONG_NAME: {
    meaning: 'The certificate in the Secret of tls.secretName does not stand for the name by which servers are known.',
    remedy:
      'Have one issued with that name among its DNS names: tls.serverName, by default NAME.NAMESPACE.svc. Servers go on with what they have until then.',
  },
  TLS_WRONG_USAGE: {
    meaning: 'The certificate in the Secret of tls.secretName is not good for servers, or not for clients.',
    remedy:
      'Servers call on each other with it: have one issued for server auth and client auth, or for no usage in particular. Servers go on with what they have until then.',
  },
  TLS_AUTHORITY_UNFIT: {
    meaning: 'An authority that stands behind the certificate in the Secret of tls.secretName is not believed itself.',
    remedy:
      'Renew the authority, or have the certificate signed by one that is good now and may sign. Servers go on with what they have until then.',
  },
  TLS_TAKEN_LOST: {
    meaning:
      'The Secret NAME-tls-taken was deleted, servers run with what it had, and the Secret of tls.secretName is not known to have the same.',
    remedy:
      'Bring it back from a copy, or put what servers have back into the Secret of tls.secretName. If that is lost, and only with `storage`, delete all pods of the cluster: new ones are given what there is. Without `storage` all data goes with the pods.',
  },
  TLS_TAKEN_FOREIGN: {
    meaning: 'There is a Secret NAME-tls-taken that this cluster did not make: it has no owner with its uid.',
    remedy:
      'Keep it under another name, or delete it if it is left of an earlier cluster of this name. Nothing is written to it.',
  },
  TLS_NOT_RENEWED: {
    meaning:
      'The Secret of tls.secretName has another ca.crt or tls.key beside the certificate that servers show already.',
    remedy:
      'Put a new tls.crt into it as well, of the authority that signed the old one. Servers go on as they are until then.',
  },
  TLS_AUTHORITY_DROPPED: {
    meaning: 'A new ca.crt lacks the authority whose certificates servers still show: they would lock each other out.',
    remedy:
      'Put the old authority into ca.crt beside the new one. Take it out with the next certificate, when all show one of the new authority.',
  },
  TLS_AUTHORITY_UNKNOWN: {
    meaning: 'A new certificate was signed by an authority that servers do not trust yet.',
    remedy:
      'First add the authority to ca.crt beside the old one, with a new certificate of the old one; when every server shows that, let the new one sign.',
  },
  CLUSTER_AWAITED: {
    meaning: 'A task names a RedisCluster that is not there yet: it waits ten minutes for it, then it fails.',
    remedy: 'Declare the cluster, and the task goes on by itself.',
  },
  CLUSTER_MISSING: {
    meaning:
      'A task failed because the RedisCluster that it names was not declared within ten minutes, or was deleted before the task ended.',
    remedy: 'Declare the cluster, then make the task again.',
  },
  CLUSTER_UNSOUND: {
    meaning: 'Not every slot has one owner that answers, or slots are on their way: no backup would be whole.',
    remedy: 'Wait until the check of the cluster is clean, or mend it, and ask again.',
  },
  BACKUPS_UNAVAILABLE: {
    meaning: 'The operator has no place to keep backups in.',
    remedy: 'On `reeve up` it is a folder of the data folder. Elsewhere give the operator one.',
  },
  BACKUP_NAME: {
    meaning: 'A backup has a name that is none of Kubernetes.',
    remedy: 'Use small letters, digits, dashes and dots.',
  },
  BACKUP_EXISTS: {
    meaning: 'There is a backup of that name already. Backups are never changed.',
    remedy: 'Give it another name.',
  },
  BACKUP_OVERTAKEN: {
    meaning: 'Somebody moved slots while snapshots were taken. Nothing of the backup was kept.',
    remedy: 'Ask again when nobody does.',
  },
  BACKUP_UNKNOWN: {
    meaning: 'There is no backup of that name, or it was never finished.',
    remedy: 'Name one whose task succeeded: its cluster, and its name.',
  },
  BACKUP_DAMAGED: {
    meaning: 'Files of the backup are missing or are not what was written. Nothing was restored.',
    remedy: 'Restore another backup.',
  },
  SNAPSHOT_BROKEN_OFF: {
    meaning: 'A server did not send its snapshot to the end.',
    remedy: 'Look at the server’s log (memory for a fork, a full disk), and ask again.',
  },
  SNAPSHOT_UNREADABLE: {
    meaning: 'A snapshot is damaged, or has a kind of value that this version of Reeve does not know.',
    remedy: 'If the message names a kind, a newer version of Reeve is needed; else take another backup.',
  },
  RESTORE_NOT_EMPTY: {
    meaning: 'A backup is restored into a cluster that holds nothing, and this one does, or may.',
    remedy: 'Make a new cluster and restore into that.',
  },
  RESTORE_UNREADABLE: {
    meaning: 'A server did not take a key of the backup: most often it is older, or another product.',
    remedy: 'Restore into a new cluster of the same product, and of a version that is not older.',
  },
  RESTORE_FAILED: {
    meaning: 'Slots had no owner, or replicas did not get what was restored, for too long.',
    remedy:
      'Look at the check of the cluster. What was restored stays; a new cluster can be restored into from the beginning.',
  },
  RESTORE_OVERTAKEN: {
    meaning:
      'While keys were brought again and again, slots came to other servers, or theirs were started anew: keys may be missing.',
    remedy: 'Find out why servers end. Then restore into a new cluster; what was restored into this one stays.',
  },
  UPGRADE_OLDER: {
    meaning: 'The version that is asked for is older than what runs: it may not read what that wrote.',
    remedy: 'Ask for the same or a newer one; to go back, restore a backup of the older one into a new cluster.',
  },
  UPGRADE_SUPERSEDED: {
    meaning: 'While an upgrade was under way, somebody set another version or image. That one counts.',
    remedy: 'None is needed. Ask for another upgrade if this one was meant.',
  },
  UPGRADE_LOSES_DATA: {
    meaning: 'Without replicas and without volumes, each pod that is made anew loses its keys.',
    remedy: 'Set replicasPerPrimary to 1 first.',
  },
  OPERATION_UNKNOWN: {
    meaning:
      'The goal of an operation was written by a version of Reeve that knows an operation which this one does not.',
    remedy: 'Run the version that began it, or delete what asks for it; what is half done shows in the check.',
  },
} as const satisfies ErrorCatalog;
