import { App, AppKey } from './app.ts';
import { Prediction, PredictionSession, PredictionText } from './prediction.ts';
import { Process } from './process.ts';
import { Usage } from './usage.ts';

export const entities = [App, AppKey, Usage, Prediction, PredictionText, PredictionSession, Process];
