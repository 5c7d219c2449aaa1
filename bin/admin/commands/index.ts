import type { Command } from '../command.ts';
import { appCreate, appDeactivate, appList, appShow, appUpdate } from './app.ts';
import { backup, erasures, move, restore, restored } from './backup.ts';
import { completionOf } from './completion.ts';
import { connectionCreate, connectionList, connectionRevoke } from './connection.ts';
import { demo } from './demo.ts';
import { doctor } from './doctor.ts';
import { importTranscripts } from './import.ts';
import { inviteCreate, inviteList } from './invite.ts';
import { keyRevoke, keyRotate } from './key.ts';
import { queueDrain, queuePause, queueResume, queueRetryFailed } from './queue.ts';
import { queueList } from './queue-list.ts';
import { top } from './top.ts';
import { usage } from './usage.ts';
import { userCreate, userDisable, userEnable, userErase, userList, userResetPassword } from './user.ts';
import { webhookCreate, webhookDelete, webhookList, webhookReplay, webhookRotate } from './webhook.ts';

/** All commands by name, in the order of the help. */
export const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['app create', appCreate],
  ['app list', appList],
  ['app show', appShow],
  ['app update', appUpdate],
  ['app deactivate', appDeactivate],
  ['key rotate', keyRotate],
  ['key revoke', keyRevoke],
  ['webhook create', webhookCreate],
  ['webhook list', webhookList],
  ['webhook rotate', webhookRotate],
  ['webhook replay', webhookReplay],
  ['webhook delete', webhookDelete],
  ['user create', userCreate],
  ['user list', userList],
  ['user disable', userDisable],
  ['user enable', userEnable],
  ['user erase', userErase],
  ['user reset-password', userResetPassword],
  ['connection create', connectionCreate],
  ['connection list', connectionList],
  ['connection revoke', connectionRevoke],
  ['invite create', inviteCreate],
  ['invite list', inviteList],
  ['import', importTranscripts],
  ['usage', usage],
  ['queue list', queueList],
  ['queue pause', queuePause],
  ['queue resume', queueResume],
  ['queue drain', queueDrain],
  ['queue retry-failed', queueRetryFailed],
  ['top', top],
  ['backup', backup],
  ['erasures', erasures],
  ['restore', restore],
  ['restored', restored],
  ['move', move],
  ['doctor', doctor],
  ['demo', demo],
  ['completion', completionOf(() => COMMANDS)],
]);
