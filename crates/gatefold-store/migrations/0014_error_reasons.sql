-- Why a call failed, for the operator: the error and its causes. NULL where the kind says all.
ALTER TABLE calls ADD COLUMN error_reason TEXT;
