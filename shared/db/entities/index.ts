import {
  Account,
  AccountUsage,
  Invite,
  LoginNetwork,
  PasswordReset,
  RefreshToken,
  ServiceKey,
  WaitlistEntry,
  WebSession,
} from './account.ts';
import { App, AppKey, PredictionEvent, Refusal, Usage } from './app.ts';
import { Connection, ConnectionAttempt, EndingConnection, ErasingGrant } from './connection.ts';
import { Episode, Fact, MemoryLink, MemoryTombstone, Profile, RawMemory } from './memory.ts';
import { PausedPool, Process, RateLimit, Schedule } from './process.ts';
import { ProviderCall, ProviderCircuit } from './provider.ts';
import { RecordingEvent, RecordingSession } from './recording.ts';
import { Reply, ReplyCalibrator } from './reply.ts';

export const entities = [
  App,
  AppKey,
  Usage,
  Refusal,
  PredictionEvent,
  Process,
  Account,
  AccountUsage,
  RefreshToken,
  ServiceKey,
  WebSession,
  PasswordReset,
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
