/**
 * The reply of hooks at BeforeSend.
 *
 * No decision.
 *
 * Value is the new payload.
 *
 * Value is a JSON merge patch (RFC 7396) of the payload.
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
    /**
     * The fields that change; null removes one.
     */
    value?: ValueObject;
    error?: string;
}

export type Decision = "continue" | "replace" | "patch" | "Refuse";

/**
 * A Message is the payload of both points.
 *
 * The fields that change; null removes one.
 *
 * Refuse keeps a message from being sent.
 */
export interface ValueObject {
    /**
     * without HTML
     */
    text?: string;
    /**
     * an address
     */
    to?:     string;
    reason?: string;
    [property: string]: unknown;
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
 * Value is a JSON merge patch (RFC 7396) of the payload.
 */
export interface BeforeSendReplyPatch {
    decision: DecisionPatch;
    /**
     * For records.
     */
    reason?: string;
    /**
     * The fields that change; null removes one.
     */
    value: { [key: string]: unknown };
}

export type DecisionPatch = "patch";

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
