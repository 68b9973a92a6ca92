/**
 * The reply of hooks at BeforeSend.
 *
 * No decision.
 *
 * Value is the new payload.
 *
 * Leave with Refuse.
 *
 * The hooks failed, or refused at a point that checks.
 */
export interface BeforeSendReply {
    decision?: Decision;
    /**
     * For records.
     */
    reason?: string;
    value?:  ValueClass;
    error?:  string;
}

export type Decision = "continue" | "replace" | "Refuse";

/**
 * A Message is the payload of both points.
 *
 * Refuse keeps a message from being sent.
 */
export interface ValueClass {
    /**
     * without HTML
     */
    text?: string;
    /**
     * an address
     */
    to?:     string;
    reason?: string;
}

/**
 * No decision.
 */
export interface BeforeSendReplyContinue {
    decision: DecisionContinue;
}

export type DecisionContinue = "continue";

/**
 * The hooks failed, or refused at a point that checks.
 */
export interface BeforeSendReplyError {
    error: string;
}

/**
 * Leave with Refuse.
 */
export interface BeforeSendReplyRefuse {
    decision: DecisionRefuse;
    value?:   Refuse;
}

export type DecisionRefuse = "Refuse";

/**
 * Refuse keeps a message from being sent.
 */
export interface Refuse {
    reason?: string;
}

/**
 * Value is the new payload.
 */
export interface BeforeSendReplyReplace {
    decision: DecisionReplace;
    /**
     * For records.
     */
    reason?: string;
    value:   MessageStrict;
}

export type DecisionReplace = "replace";

/**
 * A Message is the payload of both points.
 */
export interface MessageStrict {
    /**
     * without HTML
     */
    text: string;
    /**
     * an address
     */
    to: string;
}

/**
 * A Message is the payload of both points.
 */
export interface Message {
    /**
     * without HTML
     */
    text: string;
    /**
     * an address
     */
    to: string;
    [property: string]: unknown;
}

/**
 * The reply of hooks at OnSent.
 *
 * No decision.
 *
 * The hooks failed, or refused at a point that checks.
 */
export interface OnSentReply {
    decision?: DecisionContinue;
    error?:    string;
}

/**
 * No decision.
 */
export interface OnSentReplyContinue {
    decision: DecisionContinue;
}

/**
 * The hooks failed, or refused at a point that checks.
 */
export interface OnSentReplyError {
    error: string;
}
