from enum import Enum
from dataclasses import dataclass
from typing import Any, TypeVar, Type, cast, Callable


T = TypeVar("T")
EnumT = TypeVar("EnumT", bound=Enum)


def from_str(x: Any) -> str:
    assert isinstance(x, str)
    return x


def from_none(x: Any) -> Any:
    assert x is None
    return x


def from_union(fs, x):
    for f in fs:
        try:
            return f(x)
        except:
            pass
    assert False


def to_enum(c: Type[EnumT], x: Any) -> EnumT:
    assert isinstance(x, c)
    return x.value


def to_class(c: Type[T], x: Any) -> dict:
    assert isinstance(x, c)
    return cast(Any, x).to_dict()


def from_dict(f: Callable[[Any], T], x: Any) -> dict[str, T]:
    assert isinstance(x, dict)
    return { k: f(v) for (k, v) in x.items() }


class Decision(Enum):
    CONTINUE = "continue"
    PATCH = "patch"
    REFUSE = "Refuse"
    REPLACE = "replace"


@dataclass
class ValueClass:
    """A Message is the payload of both points.
    
    The fields that change; null removes one.
    
    Refuse keeps a message from being sent.
    """
    text: str | None = None
    """without HTML"""

    to: str | None = None
    """an address"""

    reason: str | None = None

    @staticmethod
    def from_dict(obj: Any) -> 'ValueClass':
        assert isinstance(obj, dict)
        text = from_union([from_str, from_none], obj.get("text"))
        to = from_union([from_str, from_none], obj.get("to"))
        reason = from_union([from_str, from_none], obj.get("reason"))
        return ValueClass(text, to, reason)

    def to_dict(self) -> dict:
        result: dict = {}
        if self.text is not None:
            result["text"] = from_union([from_str, from_none], self.text)
        if self.to is not None:
            result["to"] = from_union([from_str, from_none], self.to)
        if self.reason is not None:
            result["reason"] = from_union([from_str, from_none], self.reason)
        return result


@dataclass
class BeforeSendReply:
    """The reply of hooks at BeforeSend.
    
    No decision.
    
    Value is the new payload.
    
    Value is a JSON merge patch (RFC 7396) of the payload.
    
    Leave with Refuse.
    
    The hooks failed, or refused at a point that checks.
    """
    decision: Decision | None = None
    reason: str | None = None
    """For records."""

    value: ValueClass | None = None
    """The fields that change; null removes one."""

    error: str | None = None

    @staticmethod
    def from_dict(obj: Any) -> 'BeforeSendReply':
        assert isinstance(obj, dict)
        decision = from_union([Decision, from_none], obj.get("decision"))
        reason = from_union([from_str, from_none], obj.get("reason"))
        value = from_union([ValueClass.from_dict, from_none], obj.get("value"))
        error = from_union([from_str, from_none], obj.get("error"))
        return BeforeSendReply(decision, reason, value, error)

    def to_dict(self) -> dict:
        result: dict = {}
        if self.decision is not None:
            result["decision"] = from_union([lambda x: to_enum(Decision, x), from_none], self.decision)
        if self.reason is not None:
            result["reason"] = from_union([from_str, from_none], self.reason)
        if self.value is not None:
            result["value"] = from_union([lambda x: to_class(ValueClass, x), from_none], self.value)
        if self.error is not None:
            result["error"] = from_union([from_str, from_none], self.error)
        return result


class DecisionContinue(Enum):
    CONTINUE = "continue"


@dataclass
class BeforeSendReplyContinue:
    """No decision."""

    decision: DecisionContinue

    @staticmethod
    def from_dict(obj: Any) -> 'BeforeSendReplyContinue':
        assert isinstance(obj, dict)
        decision = DecisionContinue(obj.get("decision"))
        return BeforeSendReplyContinue(decision)

    def to_dict(self) -> dict:
        result: dict = {}
        result["decision"] = to_enum(DecisionContinue, self.decision)
        return result


@dataclass
class BeforeSendReplyError:
    """The hooks failed, or refused at a point that checks."""

    error: str

    @staticmethod
    def from_dict(obj: Any) -> 'BeforeSendReplyError':
        assert isinstance(obj, dict)
        error = from_str(obj.get("error"))
        return BeforeSendReplyError(error)

    def to_dict(self) -> dict:
        result: dict = {}
        result["error"] = from_str(self.error)
        return result


class DecisionPatch(Enum):
    PATCH = "patch"


@dataclass
class BeforeSendReplyPatch:
    """Value is a JSON merge patch (RFC 7396) of the payload."""

    decision: DecisionPatch
    value: dict[str, Any]
    """The fields that change; null removes one."""

    reason: str | None = None
    """For records."""

    @staticmethod
    def from_dict(obj: Any) -> 'BeforeSendReplyPatch':
        assert isinstance(obj, dict)
        decision = DecisionPatch(obj.get("decision"))
        value = from_dict(lambda x: x, obj.get("value"))
        reason = from_union([from_str, from_none], obj.get("reason"))
        return BeforeSendReplyPatch(decision, value, reason)

    def to_dict(self) -> dict:
        result: dict = {}
        result["decision"] = to_enum(DecisionPatch, self.decision)
        result["value"] = from_dict(lambda x: x, self.value)
        if self.reason is not None:
            result["reason"] = from_union([from_str, from_none], self.reason)
        return result


class DecisionRefuse(Enum):
    REFUSE = "Refuse"


@dataclass
class Refuse:
    """Refuse keeps a message from being sent."""

    reason: str | None = None

    @staticmethod
    def from_dict(obj: Any) -> 'Refuse':
        assert isinstance(obj, dict)
        reason = from_union([from_str, from_none], obj.get("reason"))
        return Refuse(reason)

    def to_dict(self) -> dict:
        result: dict = {}
        if self.reason is not None:
            result["reason"] = from_union([from_str, from_none], self.reason)
        return result


@dataclass
class BeforeSendReplyRefuse:
    """Leave with Refuse."""

    decision: DecisionRefuse
    value: Refuse | None = None

    @staticmethod
    def from_dict(obj: Any) -> 'BeforeSendReplyRefuse':
        assert isinstance(obj, dict)
        decision = DecisionRefuse(obj.get("decision"))
        value = from_union([Refuse.from_dict, from_none], obj.get("value"))
        return BeforeSendReplyRefuse(decision, value)

    def to_dict(self) -> dict:
        result: dict = {}
        result["decision"] = to_enum(DecisionRefuse, self.decision)
        if self.value is not None:
            result["value"] = from_union([lambda x: to_class(Refuse, x), from_none], self.value)
        return result


class DecisionReplace(Enum):
    REPLACE = "replace"


@dataclass
class MessageStrict:
    """A Message is the payload of both points."""

    text: str
    """without HTML"""

    to: str
    """an address"""

    @staticmethod
    def from_dict(obj: Any) -> 'MessageStrict':
        assert isinstance(obj, dict)
        text = from_str(obj.get("text"))
        to = from_str(obj.get("to"))
        return MessageStrict(text, to)

    def to_dict(self) -> dict:
        result: dict = {}
        result["text"] = from_str(self.text)
        result["to"] = from_str(self.to)
        return result


@dataclass
class BeforeSendReplyReplace:
    """Value is the new payload."""

    decision: DecisionReplace
    value: MessageStrict
    reason: str | None = None
    """For records."""

    @staticmethod
    def from_dict(obj: Any) -> 'BeforeSendReplyReplace':
        assert isinstance(obj, dict)
        decision = DecisionReplace(obj.get("decision"))
        value = MessageStrict.from_dict(obj.get("value"))
        reason = from_union([from_str, from_none], obj.get("reason"))
        return BeforeSendReplyReplace(decision, value, reason)

    def to_dict(self) -> dict:
        result: dict = {}
        result["decision"] = to_enum(DecisionReplace, self.decision)
        result["value"] = to_class(MessageStrict, self.value)
        if self.reason is not None:
            result["reason"] = from_union([from_str, from_none], self.reason)
        return result


@dataclass
class Message:
    """A Message is the payload of both points."""

    text: str
    """without HTML"""

    to: str
    """an address"""

    @staticmethod
    def from_dict(obj: Any) -> 'Message':
        assert isinstance(obj, dict)
        text = from_str(obj.get("text"))
        to = from_str(obj.get("to"))
        return Message(text, to)

    def to_dict(self) -> dict:
        result: dict = {}
        result["text"] = from_str(self.text)
        result["to"] = from_str(self.to)
        return result


@dataclass
class OnSentReply:
    """The reply of hooks at OnSent.
    
    No decision.
    
    The hooks failed, or refused at a point that checks.
    """
    decision: DecisionContinue | None = None
    error: str | None = None

    @staticmethod
    def from_dict(obj: Any) -> 'OnSentReply':
        assert isinstance(obj, dict)
        decision = from_union([DecisionContinue, from_none], obj.get("decision"))
        error = from_union([from_str, from_none], obj.get("error"))
        return OnSentReply(decision, error)

    def to_dict(self) -> dict:
        result: dict = {}
        if self.decision is not None:
            result["decision"] = from_union([lambda x: to_enum(DecisionContinue, x), from_none], self.decision)
        if self.error is not None:
            result["error"] = from_union([from_str, from_none], self.error)
        return result


@dataclass
class OnSentReplyContinue:
    """No decision."""

    decision: DecisionContinue

    @staticmethod
    def from_dict(obj: Any) -> 'OnSentReplyContinue':
        assert isinstance(obj, dict)
        decision = DecisionContinue(obj.get("decision"))
        return OnSentReplyContinue(decision)

    def to_dict(self) -> dict:
        result: dict = {}
        result["decision"] = to_enum(DecisionContinue, self.decision)
        return result


@dataclass
class OnSentReplyError:
    """The hooks failed, or refused at a point that checks."""

    error: str

    @staticmethod
    def from_dict(obj: Any) -> 'OnSentReplyError':
        assert isinstance(obj, dict)
        error = from_str(obj.get("error"))
        return OnSentReplyError(error)

    def to_dict(self) -> dict:
        result: dict = {}
        result["error"] = from_str(self.error)
        return result


def before_send_reply_from_dict(s: Any) -> BeforeSendReply:
    return BeforeSendReply.from_dict(s)


def before_send_reply_to_dict(x: BeforeSendReply) -> Any:
    return to_class(BeforeSendReply, x)


def before_send_reply_continue_from_dict(s: Any) -> BeforeSendReplyContinue:
    return BeforeSendReplyContinue.from_dict(s)


def before_send_reply_continue_to_dict(x: BeforeSendReplyContinue) -> Any:
    return to_class(BeforeSendReplyContinue, x)


def before_send_reply_error_from_dict(s: Any) -> BeforeSendReplyError:
    return BeforeSendReplyError.from_dict(s)


def before_send_reply_error_to_dict(x: BeforeSendReplyError) -> Any:
    return to_class(BeforeSendReplyError, x)


def before_send_reply_patch_from_dict(s: Any) -> BeforeSendReplyPatch:
    return BeforeSendReplyPatch.from_dict(s)


def before_send_reply_patch_to_dict(x: BeforeSendReplyPatch) -> Any:
    return to_class(BeforeSendReplyPatch, x)


def before_send_reply_refuse_from_dict(s: Any) -> BeforeSendReplyRefuse:
    return BeforeSendReplyRefuse.from_dict(s)


def before_send_reply_refuse_to_dict(x: BeforeSendReplyRefuse) -> Any:
    return to_class(BeforeSendReplyRefuse, x)


def before_send_reply_replace_from_dict(s: Any) -> BeforeSendReplyReplace:
    return BeforeSendReplyReplace.from_dict(s)


def before_send_reply_replace_to_dict(x: BeforeSendReplyReplace) -> Any:
    return to_class(BeforeSendReplyReplace, x)


def message_from_dict(s: Any) -> Message:
    return Message.from_dict(s)


def message_to_dict(x: Message) -> Any:
    return to_class(Message, x)


def message_strict_from_dict(s: Any) -> MessageStrict:
    return MessageStrict.from_dict(s)


def message_strict_to_dict(x: MessageStrict) -> Any:
    return to_class(MessageStrict, x)


def on_sent_reply_from_dict(s: Any) -> OnSentReply:
    return OnSentReply.from_dict(s)


def on_sent_reply_to_dict(x: OnSentReply) -> Any:
    return to_class(OnSentReply, x)


def on_sent_reply_continue_from_dict(s: Any) -> OnSentReplyContinue:
    return OnSentReplyContinue.from_dict(s)


def on_sent_reply_continue_to_dict(x: OnSentReplyContinue) -> Any:
    return to_class(OnSentReplyContinue, x)


def on_sent_reply_error_from_dict(s: Any) -> OnSentReplyError:
    return OnSentReplyError.from_dict(s)


def on_sent_reply_error_to_dict(x: OnSentReplyError) -> Any:
    return to_class(OnSentReplyError, x)


def refuse_from_dict(s: Any) -> Refuse:
    return Refuse.from_dict(s)


def refuse_to_dict(x: Refuse) -> Any:
    return to_class(Refuse, x)
