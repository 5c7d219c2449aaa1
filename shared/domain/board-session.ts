/** A session on the operators' board lasts a working day. */
export const BOARD_SESSION_S = 8 * 60 * 60;

/** The limit that marks ended sessions by their names, at all ingresses. Its window outlives the session. */
export const ENDED_SESSIONS = { name: 'admin-ended', points: 0, windowS: BOARD_SESSION_S };

/** Names all sessions that began before the window of this name did. A restore begins one. */
export const EARLIER_SESSIONS = 'earlier';
