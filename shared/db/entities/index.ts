import {
  Account,
  AccountUsage,
  Invite,
  RefreshToken,
  ServiceKey,
  WaitlistEntry,
  WebSession,
} from './account.ts';
import { App, AppKey } from './app.ts';
import { Connection, ConnectionAttempt } from './connection.ts';
import { EndingConnection } from './ending-connection.ts';
import { ErasingGrant } from './erasing-grant.ts';
import { LoginNetwork } from './login-network.ts';
import { Episode } from './memory/episode.ts';
import { Fact } from './memory/fact.ts';
import { MemoryLink } from './memory/link.ts';
import { Profile } from './memory/profile.ts';
import { RawMemory } from './memory/raw.ts';
import { MemoryTombstone } from './memory/tombstone.ts';
import { PredictionEvent } from './prediction-event.ts';
import { Process } from './process.ts';
import { ProviderCall } from './provider-call.ts';
import { ProviderCircuit } from './provider-circuit.ts';
import { RateLimit } from './rate-limit.ts';
import { RecordingEvent, RecordingSession } from './recording.ts';
import { Reply, ReplyCalibrator } from './reply.ts';
import { PausedPool, Schedule } from './schedule.ts';
import { Usage } from './usage.ts';

export const entities = [
  App,
  AppKey,
  Usage,
  PredictionEvent,
  Process,
  Account,
  AccountUsage,
  RefreshToken,
  ServiceKey,
  WebSession,
  LoginNetwork,
  Invite,
  WaitlistEntry,
  Connection,
  ConnectionAttempt,
  EndingConnection,
  ErasingGrant,
  Profile,
  RawMemory,
  Episode,
  Fact,
  MemoryLink,
  MemoryTombstone,
  RecordingSession,
  RecordingEvent,
  RateLimit,
  ProviderCall,
  ProviderCircuit,
  Schedule,
  PausedPool,
  Reply,
  ReplyCalibrator,
];
