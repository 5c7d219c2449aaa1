import { Account, Invite, RefreshToken, ServiceKey, WaitlistEntry, WebSession } from './account.ts';
import { App, AppKey } from './app.ts';
import { Connection, ConnectionAttempt } from './connection.ts';
import { ErasingGrant } from './erasing-grant.ts';
import { Fact, Profile } from './memory.ts';
import { Prediction, PredictionSession, PredictionText } from './prediction.ts';
import { PredictionEvent } from './prediction-event.ts';
import { Process } from './process.ts';
import { RateLimit } from './rate-limit.ts';
import { RecordingEvent, RecordingSession } from './recording.ts';
import { Usage } from './usage.ts';

export const entities = [
  App,
  AppKey,
  Usage,
  Prediction,
  PredictionText,
  PredictionSession,
  PredictionEvent,
  Process,
  Account,
  RefreshToken,
  ServiceKey,
  WebSession,
  Invite,
  WaitlistEntry,
  Connection,
  ConnectionAttempt,
  ErasingGrant,
  Profile,
  Fact,
  RecordingSession,
  RecordingEvent,
  RateLimit,
];
