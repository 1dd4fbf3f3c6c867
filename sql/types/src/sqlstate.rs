//! PostgreSQL 15's SQLSTATEs (manual, appendix A), generated from its condition list.

/// A five-character error code.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SqlState([u8; 5]);

impl SqlState {
    /// The code as text.
    #[must_use]
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).expect("codes are ASCII")
    }

    /// The code of five ASCII characters.
    #[must_use]
    pub const fn new(code: [u8; 5]) -> SqlState {
        SqlState(code)
    }
}

impl std::fmt::Display for SqlState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.code())
    }
}

impl std::fmt::Debug for SqlState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.code())
    }
}

impl SqlState {
    /// 00000 successful_completion.
    pub const SUCCESSFUL_COMPLETION: SqlState = SqlState(*b"00000");
    /// 01000 warning.
    pub const WARNING: SqlState = SqlState(*b"01000");
    /// 0100C dynamic_result_sets_returned.
    pub const DYNAMIC_RESULT_SETS_RETURNED: SqlState = SqlState(*b"0100C");
    /// 01008 implicit_zero_bit_padding.
    pub const IMPLICIT_ZERO_BIT_PADDING: SqlState = SqlState(*b"01008");
    /// 01003 null_value_eliminated_in_set_function.
    pub const NULL_VALUE_ELIMINATED_IN_SET_FUNCTION: SqlState = SqlState(*b"01003");
    /// 01007 privilege_not_granted.
    pub const PRIVILEGE_NOT_GRANTED: SqlState = SqlState(*b"01007");
    /// 01006 privilege_not_revoked.
    pub const PRIVILEGE_NOT_REVOKED: SqlState = SqlState(*b"01006");
    /// 01004 string_data_right_truncation.
    pub const WARNING_STRING_DATA_RIGHT_TRUNCATION: SqlState = SqlState(*b"01004");
    /// 01P01 deprecated_feature.
    pub const DEPRECATED_FEATURE: SqlState = SqlState(*b"01P01");
    /// 02000 no_data.
    pub const NO_DATA: SqlState = SqlState(*b"02000");
    /// 02001 no_additional_dynamic_result_sets_returned.
    pub const NO_ADDITIONAL_DYNAMIC_RESULT_SETS_RETURNED: SqlState = SqlState(*b"02001");
    /// 03000 sql_statement_not_yet_complete.
    pub const SQL_STATEMENT_NOT_YET_COMPLETE: SqlState = SqlState(*b"03000");
    /// 08000 connection_exception.
    pub const CONNECTION_EXCEPTION: SqlState = SqlState(*b"08000");
    /// 08003 connection_does_not_exist.
    pub const CONNECTION_DOES_NOT_EXIST: SqlState = SqlState(*b"08003");
    /// 08006 connection_failure.
    pub const CONNECTION_FAILURE: SqlState = SqlState(*b"08006");
    /// 08001 sqlclient_unable_to_establish_sqlconnection.
    pub const SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION: SqlState = SqlState(*b"08001");
    /// 08004 sqlserver_rejected_establishment_of_sqlconnection.
    pub const SQLSERVER_REJECTED_ESTABLISHMENT_OF_SQLCONNECTION: SqlState = SqlState(*b"08004");
    /// 08007 transaction_resolution_unknown.
    pub const TRANSACTION_RESOLUTION_UNKNOWN: SqlState = SqlState(*b"08007");
    /// 08P01 protocol_violation.
    pub const PROTOCOL_VIOLATION: SqlState = SqlState(*b"08P01");
    /// 09000 triggered_action_exception.
    pub const TRIGGERED_ACTION_EXCEPTION: SqlState = SqlState(*b"09000");
    /// 0A000 feature_not_supported.
    pub const FEATURE_NOT_SUPPORTED: SqlState = SqlState(*b"0A000");
    /// 0B000 invalid_transaction_initiation.
    pub const INVALID_TRANSACTION_INITIATION: SqlState = SqlState(*b"0B000");
    /// 0F000 locator_exception.
    pub const LOCATOR_EXCEPTION: SqlState = SqlState(*b"0F000");
    /// 0F001 invalid_locator_specification.
    pub const INVALID_LOCATOR_SPECIFICATION: SqlState = SqlState(*b"0F001");
    /// 0L000 invalid_grantor.
    pub const INVALID_GRANTOR: SqlState = SqlState(*b"0L000");
    /// 0LP01 invalid_grant_operation.
    pub const INVALID_GRANT_OPERATION: SqlState = SqlState(*b"0LP01");
    /// 0P000 invalid_role_specification.
    pub const INVALID_ROLE_SPECIFICATION: SqlState = SqlState(*b"0P000");
    /// 0Z000 diagnostics_exception.
    pub const DIAGNOSTICS_EXCEPTION: SqlState = SqlState(*b"0Z000");
    /// 0Z002 stacked_diagnostics_accessed_without_active_handler.
    pub const STACKED_DIAGNOSTICS_ACCESSED_WITHOUT_ACTIVE_HANDLER: SqlState = SqlState(*b"0Z002");
    /// 20000 case_not_found.
    pub const CASE_NOT_FOUND: SqlState = SqlState(*b"20000");
    /// 21000 cardinality_violation.
    pub const CARDINALITY_VIOLATION: SqlState = SqlState(*b"21000");
    /// 22000 data_exception.
    pub const DATA_EXCEPTION: SqlState = SqlState(*b"22000");
    /// 2202E array_subscript_error.
    pub const ARRAY_SUBSCRIPT_ERROR: SqlState = SqlState(*b"2202E");
    /// 22021 character_not_in_repertoire.
    pub const CHARACTER_NOT_IN_REPERTOIRE: SqlState = SqlState(*b"22021");
    /// 22008 datetime_field_overflow.
    pub const DATETIME_FIELD_OVERFLOW: SqlState = SqlState(*b"22008");
    /// 22012 division_by_zero.
    pub const DIVISION_BY_ZERO: SqlState = SqlState(*b"22012");
    /// 22005 error_in_assignment.
    pub const ERROR_IN_ASSIGNMENT: SqlState = SqlState(*b"22005");
    /// 2200B escape_character_conflict.
    pub const ESCAPE_CHARACTER_CONFLICT: SqlState = SqlState(*b"2200B");
    /// 22022 indicator_overflow.
    pub const INDICATOR_OVERFLOW: SqlState = SqlState(*b"22022");
    /// 22015 interval_field_overflow.
    pub const INTERVAL_FIELD_OVERFLOW: SqlState = SqlState(*b"22015");
    /// 2201E invalid_argument_for_logarithm.
    pub const INVALID_ARGUMENT_FOR_LOGARITHM: SqlState = SqlState(*b"2201E");
    /// 22014 invalid_argument_for_ntile_function.
    pub const INVALID_ARGUMENT_FOR_NTILE_FUNCTION: SqlState = SqlState(*b"22014");
    /// 22016 invalid_argument_for_nth_value_function.
    pub const INVALID_ARGUMENT_FOR_NTH_VALUE_FUNCTION: SqlState = SqlState(*b"22016");
    /// 2201F invalid_argument_for_power_function.
    pub const INVALID_ARGUMENT_FOR_POWER_FUNCTION: SqlState = SqlState(*b"2201F");
    /// 2201G invalid_argument_for_width_bucket_function.
    pub const INVALID_ARGUMENT_FOR_WIDTH_BUCKET_FUNCTION: SqlState = SqlState(*b"2201G");
    /// 22018 invalid_character_value_for_cast.
    pub const INVALID_CHARACTER_VALUE_FOR_CAST: SqlState = SqlState(*b"22018");
    /// 22007 invalid_datetime_format.
    pub const INVALID_DATETIME_FORMAT: SqlState = SqlState(*b"22007");
    /// 22019 invalid_escape_character.
    pub const INVALID_ESCAPE_CHARACTER: SqlState = SqlState(*b"22019");
    /// 2200D invalid_escape_octet.
    pub const INVALID_ESCAPE_OCTET: SqlState = SqlState(*b"2200D");
    /// 22025 invalid_escape_sequence.
    pub const INVALID_ESCAPE_SEQUENCE: SqlState = SqlState(*b"22025");
    /// 22P06 nonstandard_use_of_escape_character.
    pub const NONSTANDARD_USE_OF_ESCAPE_CHARACTER: SqlState = SqlState(*b"22P06");
    /// 22010 invalid_indicator_parameter_value.
    pub const INVALID_INDICATOR_PARAMETER_VALUE: SqlState = SqlState(*b"22010");
    /// 22023 invalid_parameter_value.
    pub const INVALID_PARAMETER_VALUE: SqlState = SqlState(*b"22023");
    /// 22013 invalid_preceding_or_following_size.
    pub const INVALID_PRECEDING_OR_FOLLOWING_SIZE: SqlState = SqlState(*b"22013");
    /// 2201B invalid_regular_expression.
    pub const INVALID_REGULAR_EXPRESSION: SqlState = SqlState(*b"2201B");
    /// 2201W invalid_row_count_in_limit_clause.
    pub const INVALID_ROW_COUNT_IN_LIMIT_CLAUSE: SqlState = SqlState(*b"2201W");
    /// 2201X invalid_row_count_in_result_offset_clause.
    pub const INVALID_ROW_COUNT_IN_RESULT_OFFSET_CLAUSE: SqlState = SqlState(*b"2201X");
    /// 2202H invalid_tablesample_argument.
    pub const INVALID_TABLESAMPLE_ARGUMENT: SqlState = SqlState(*b"2202H");
    /// 2202G invalid_tablesample_repeat.
    pub const INVALID_TABLESAMPLE_REPEAT: SqlState = SqlState(*b"2202G");
    /// 22009 invalid_time_zone_displacement_value.
    pub const INVALID_TIME_ZONE_DISPLACEMENT_VALUE: SqlState = SqlState(*b"22009");
    /// 2200C invalid_use_of_escape_character.
    pub const INVALID_USE_OF_ESCAPE_CHARACTER: SqlState = SqlState(*b"2200C");
    /// 2200G most_specific_type_mismatch.
    pub const MOST_SPECIFIC_TYPE_MISMATCH: SqlState = SqlState(*b"2200G");
    /// 22004 null_value_not_allowed.
    pub const NULL_VALUE_NOT_ALLOWED: SqlState = SqlState(*b"22004");
    /// 22002 null_value_no_indicator_parameter.
    pub const NULL_VALUE_NO_INDICATOR_PARAMETER: SqlState = SqlState(*b"22002");
    /// 22003 numeric_value_out_of_range.
    pub const NUMERIC_VALUE_OUT_OF_RANGE: SqlState = SqlState(*b"22003");
    /// 2200H sequence_generator_limit_exceeded.
    pub const SEQUENCE_GENERATOR_LIMIT_EXCEEDED: SqlState = SqlState(*b"2200H");
    /// 22026 string_data_length_mismatch.
    pub const STRING_DATA_LENGTH_MISMATCH: SqlState = SqlState(*b"22026");
    /// 22001 string_data_right_truncation.
    pub const STRING_DATA_RIGHT_TRUNCATION: SqlState = SqlState(*b"22001");
    /// 22011 substring_error.
    pub const SUBSTRING_ERROR: SqlState = SqlState(*b"22011");
    /// 22027 trim_error.
    pub const TRIM_ERROR: SqlState = SqlState(*b"22027");
    /// 22024 unterminated_c_string.
    pub const UNTERMINATED_C_STRING: SqlState = SqlState(*b"22024");
    /// 2200F zero_length_character_string.
    pub const ZERO_LENGTH_CHARACTER_STRING: SqlState = SqlState(*b"2200F");
    /// 22P01 floating_point_exception.
    pub const FLOATING_POINT_EXCEPTION: SqlState = SqlState(*b"22P01");
    /// 22P02 invalid_text_representation.
    pub const INVALID_TEXT_REPRESENTATION: SqlState = SqlState(*b"22P02");
    /// 22P03 invalid_binary_representation.
    pub const INVALID_BINARY_REPRESENTATION: SqlState = SqlState(*b"22P03");
    /// 22P04 bad_copy_file_format.
    pub const BAD_COPY_FILE_FORMAT: SqlState = SqlState(*b"22P04");
    /// 22P05 untranslatable_character.
    pub const UNTRANSLATABLE_CHARACTER: SqlState = SqlState(*b"22P05");
    /// 22P07 datum_version_mismatch.
    pub const DATUM_VERSION_MISMATCH: SqlState = SqlState(*b"22P07");
    /// 2200L not_an_xml_document.
    pub const NOT_AN_XML_DOCUMENT: SqlState = SqlState(*b"2200L");
    /// 2200M invalid_xml_document.
    pub const INVALID_XML_DOCUMENT: SqlState = SqlState(*b"2200M");
    /// 2200N invalid_xml_content.
    pub const INVALID_XML_CONTENT: SqlState = SqlState(*b"2200N");
    /// 2200S invalid_xml_comment.
    pub const INVALID_XML_COMMENT: SqlState = SqlState(*b"2200S");
    /// 2200T invalid_xml_processing_instruction.
    pub const INVALID_XML_PROCESSING_INSTRUCTION: SqlState = SqlState(*b"2200T");
    /// 22030 duplicate_json_object_key_value.
    pub const DUPLICATE_JSON_OBJECT_KEY_VALUE: SqlState = SqlState(*b"22030");
    /// 22031 invalid_argument_for_sql_json_datetime_function.
    pub const INVALID_ARGUMENT_FOR_SQL_JSON_DATETIME_FUNCTION: SqlState = SqlState(*b"22031");
    /// 22032 invalid_json_text.
    pub const INVALID_JSON_TEXT: SqlState = SqlState(*b"22032");
    /// 22033 invalid_sql_json_subscript.
    pub const INVALID_SQL_JSON_SUBSCRIPT: SqlState = SqlState(*b"22033");
    /// 22034 more_than_one_sql_json_item.
    pub const MORE_THAN_ONE_SQL_JSON_ITEM: SqlState = SqlState(*b"22034");
    /// 22035 no_sql_json_item.
    pub const NO_SQL_JSON_ITEM: SqlState = SqlState(*b"22035");
    /// 22036 non_numeric_sql_json_item.
    pub const NON_NUMERIC_SQL_JSON_ITEM: SqlState = SqlState(*b"22036");
    /// 22037 non_unique_keys_in_a_json_object.
    pub const NON_UNIQUE_KEYS_IN_A_JSON_OBJECT: SqlState = SqlState(*b"22037");
    /// 22038 singleton_sql_json_item_required.
    pub const SINGLETON_SQL_JSON_ITEM_REQUIRED: SqlState = SqlState(*b"22038");
    /// 22039 sql_json_array_not_found.
    pub const SQL_JSON_ARRAY_NOT_FOUND: SqlState = SqlState(*b"22039");
    /// 2203A sql_json_member_not_found.
    pub const SQL_JSON_MEMBER_NOT_FOUND: SqlState = SqlState(*b"2203A");
    /// 2203B sql_json_number_not_found.
    pub const SQL_JSON_NUMBER_NOT_FOUND: SqlState = SqlState(*b"2203B");
    /// 2203C sql_json_object_not_found.
    pub const SQL_JSON_OBJECT_NOT_FOUND: SqlState = SqlState(*b"2203C");
    /// 2203D too_many_json_array_elements.
    pub const TOO_MANY_JSON_ARRAY_ELEMENTS: SqlState = SqlState(*b"2203D");
    /// 2203E too_many_json_object_members.
    pub const TOO_MANY_JSON_OBJECT_MEMBERS: SqlState = SqlState(*b"2203E");
    /// 2203F sql_json_scalar_required.
    pub const SQL_JSON_SCALAR_REQUIRED: SqlState = SqlState(*b"2203F");
    /// 2203G sql_json_item_cannot_be_cast_to_target_type.
    pub const SQL_JSON_ITEM_CANNOT_BE_CAST_TO_TARGET_TYPE: SqlState = SqlState(*b"2203G");
    /// 23000 integrity_constraint_violation.
    pub const INTEGRITY_CONSTRAINT_VIOLATION: SqlState = SqlState(*b"23000");
    /// 23001 restrict_violation.
    pub const RESTRICT_VIOLATION: SqlState = SqlState(*b"23001");
    /// 23502 not_null_violation.
    pub const NOT_NULL_VIOLATION: SqlState = SqlState(*b"23502");
    /// 23503 foreign_key_violation.
    pub const FOREIGN_KEY_VIOLATION: SqlState = SqlState(*b"23503");
    /// 23505 unique_violation.
    pub const UNIQUE_VIOLATION: SqlState = SqlState(*b"23505");
    /// 23514 check_violation.
    pub const CHECK_VIOLATION: SqlState = SqlState(*b"23514");
    /// 23P01 exclusion_violation.
    pub const EXCLUSION_VIOLATION: SqlState = SqlState(*b"23P01");
    /// 24000 invalid_cursor_state.
    pub const INVALID_CURSOR_STATE: SqlState = SqlState(*b"24000");
    /// 25000 invalid_transaction_state.
    pub const INVALID_TRANSACTION_STATE: SqlState = SqlState(*b"25000");
    /// 25001 active_sql_transaction.
    pub const ACTIVE_SQL_TRANSACTION: SqlState = SqlState(*b"25001");
    /// 25002 branch_transaction_already_active.
    pub const BRANCH_TRANSACTION_ALREADY_ACTIVE: SqlState = SqlState(*b"25002");
    /// 25008 held_cursor_requires_same_isolation_level.
    pub const HELD_CURSOR_REQUIRES_SAME_ISOLATION_LEVEL: SqlState = SqlState(*b"25008");
    /// 25003 inappropriate_access_mode_for_branch_transaction.
    pub const INAPPROPRIATE_ACCESS_MODE_FOR_BRANCH_TRANSACTION: SqlState = SqlState(*b"25003");
    /// 25004 inappropriate_isolation_level_for_branch_transaction.
    pub const INAPPROPRIATE_ISOLATION_LEVEL_FOR_BRANCH_TRANSACTION: SqlState = SqlState(*b"25004");
    /// 25005 no_active_sql_transaction_for_branch_transaction.
    pub const NO_ACTIVE_SQL_TRANSACTION_FOR_BRANCH_TRANSACTION: SqlState = SqlState(*b"25005");
    /// 25006 read_only_sql_transaction.
    pub const READ_ONLY_SQL_TRANSACTION: SqlState = SqlState(*b"25006");
    /// 25007 schema_and_data_statement_mixing_not_supported.
    pub const SCHEMA_AND_DATA_STATEMENT_MIXING_NOT_SUPPORTED: SqlState = SqlState(*b"25007");
    /// 25P01 no_active_sql_transaction.
    pub const NO_ACTIVE_SQL_TRANSACTION: SqlState = SqlState(*b"25P01");
    /// 25P02 in_failed_sql_transaction.
    pub const IN_FAILED_SQL_TRANSACTION: SqlState = SqlState(*b"25P02");
    /// 25P03 idle_in_transaction_session_timeout.
    pub const IDLE_IN_TRANSACTION_SESSION_TIMEOUT: SqlState = SqlState(*b"25P03");
    /// 26000 invalid_sql_statement_name.
    pub const INVALID_SQL_STATEMENT_NAME: SqlState = SqlState(*b"26000");
    /// 27000 triggered_data_change_violation.
    pub const TRIGGERED_DATA_CHANGE_VIOLATION: SqlState = SqlState(*b"27000");
    /// 28000 invalid_authorization_specification.
    pub const INVALID_AUTHORIZATION_SPECIFICATION: SqlState = SqlState(*b"28000");
    /// 28P01 invalid_password.
    pub const INVALID_PASSWORD: SqlState = SqlState(*b"28P01");
    /// 2B000 dependent_privilege_descriptors_still_exist.
    pub const DEPENDENT_PRIVILEGE_DESCRIPTORS_STILL_EXIST: SqlState = SqlState(*b"2B000");
    /// 2BP01 dependent_objects_still_exist.
    pub const DEPENDENT_OBJECTS_STILL_EXIST: SqlState = SqlState(*b"2BP01");
    /// 2D000 invalid_transaction_termination.
    pub const INVALID_TRANSACTION_TERMINATION: SqlState = SqlState(*b"2D000");
    /// 2F000 sql_routine_exception.
    pub const SQL_ROUTINE_EXCEPTION: SqlState = SqlState(*b"2F000");
    /// 2F005 function_executed_no_return_statement.
    pub const FUNCTION_EXECUTED_NO_RETURN_STATEMENT: SqlState = SqlState(*b"2F005");
    /// 2F002 modifying_sql_data_not_permitted.
    pub const S_R_E_MODIFYING_SQL_DATA_NOT_PERMITTED: SqlState = SqlState(*b"2F002");
    /// 2F003 prohibited_sql_statement_attempted.
    pub const S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED: SqlState = SqlState(*b"2F003");
    /// 2F004 reading_sql_data_not_permitted.
    pub const S_R_E_READING_SQL_DATA_NOT_PERMITTED: SqlState = SqlState(*b"2F004");
    /// 34000 invalid_cursor_name.
    pub const INVALID_CURSOR_NAME: SqlState = SqlState(*b"34000");
    /// 38000 external_routine_exception.
    pub const EXTERNAL_ROUTINE_EXCEPTION: SqlState = SqlState(*b"38000");
    /// 38001 containing_sql_not_permitted.
    pub const CONTAINING_SQL_NOT_PERMITTED: SqlState = SqlState(*b"38001");
    /// 38002 modifying_sql_data_not_permitted.
    pub const E_R_E_MODIFYING_SQL_DATA_NOT_PERMITTED: SqlState = SqlState(*b"38002");
    /// 38003 prohibited_sql_statement_attempted.
    pub const E_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED: SqlState = SqlState(*b"38003");
    /// 38004 reading_sql_data_not_permitted.
    pub const E_R_E_READING_SQL_DATA_NOT_PERMITTED: SqlState = SqlState(*b"38004");
    /// 39000 external_routine_invocation_exception.
    pub const EXTERNAL_ROUTINE_INVOCATION_EXCEPTION: SqlState = SqlState(*b"39000");
    /// 39001 invalid_sqlstate_returned.
    pub const INVALID_SQLSTATE_RETURNED: SqlState = SqlState(*b"39001");
    /// 39004 null_value_not_allowed.
    pub const E_R_I_E_NULL_VALUE_NOT_ALLOWED: SqlState = SqlState(*b"39004");
    /// 39P01 trigger_protocol_violated.
    pub const TRIGGER_PROTOCOL_VIOLATED: SqlState = SqlState(*b"39P01");
    /// 39P02 srf_protocol_violated.
    pub const SRF_PROTOCOL_VIOLATED: SqlState = SqlState(*b"39P02");
    /// 39P03 event_trigger_protocol_violated.
    pub const EVENT_TRIGGER_PROTOCOL_VIOLATED: SqlState = SqlState(*b"39P03");
    /// 3B000 savepoint_exception.
    pub const SAVEPOINT_EXCEPTION: SqlState = SqlState(*b"3B000");
    /// 3B001 invalid_savepoint_specification.
    pub const INVALID_SAVEPOINT_SPECIFICATION: SqlState = SqlState(*b"3B001");
    /// 3D000 invalid_catalog_name.
    pub const INVALID_CATALOG_NAME: SqlState = SqlState(*b"3D000");
    /// 3F000 invalid_schema_name.
    pub const INVALID_SCHEMA_NAME: SqlState = SqlState(*b"3F000");
    /// 40000 transaction_rollback.
    pub const TRANSACTION_ROLLBACK: SqlState = SqlState(*b"40000");
    /// 40002 transaction_integrity_constraint_violation.
    pub const T_R_TRANSACTION_INTEGRITY_CONSTRAINT_VIOLATION: SqlState = SqlState(*b"40002");
    /// 40001 serialization_failure.
    pub const T_R_SERIALIZATION_FAILURE: SqlState = SqlState(*b"40001");
    /// 40003 statement_completion_unknown.
    pub const T_R_STATEMENT_COMPLETION_UNKNOWN: SqlState = SqlState(*b"40003");
    /// 40P01 deadlock_detected.
    pub const T_R_DEADLOCK_DETECTED: SqlState = SqlState(*b"40P01");
    /// 42000 syntax_error_or_access_rule_violation.
    pub const SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION: SqlState = SqlState(*b"42000");
    /// 42601 syntax_error.
    pub const SYNTAX_ERROR: SqlState = SqlState(*b"42601");
    /// 42501 insufficient_privilege.
    pub const INSUFFICIENT_PRIVILEGE: SqlState = SqlState(*b"42501");
    /// 42846 cannot_coerce.
    pub const CANNOT_COERCE: SqlState = SqlState(*b"42846");
    /// 42803 grouping_error.
    pub const GROUPING_ERROR: SqlState = SqlState(*b"42803");
    /// 42P20 windowing_error.
    pub const WINDOWING_ERROR: SqlState = SqlState(*b"42P20");
    /// 42P19 invalid_recursion.
    pub const INVALID_RECURSION: SqlState = SqlState(*b"42P19");
    /// 42830 invalid_foreign_key.
    pub const INVALID_FOREIGN_KEY: SqlState = SqlState(*b"42830");
    /// 42602 invalid_name.
    pub const INVALID_NAME: SqlState = SqlState(*b"42602");
    /// 42622 name_too_long.
    pub const NAME_TOO_LONG: SqlState = SqlState(*b"42622");
    /// 42939 reserved_name.
    pub const RESERVED_NAME: SqlState = SqlState(*b"42939");
    /// 42804 datatype_mismatch.
    pub const DATATYPE_MISMATCH: SqlState = SqlState(*b"42804");
    /// 42P18 indeterminate_datatype.
    pub const INDETERMINATE_DATATYPE: SqlState = SqlState(*b"42P18");
    /// 42P21 collation_mismatch.
    pub const COLLATION_MISMATCH: SqlState = SqlState(*b"42P21");
    /// 42P22 indeterminate_collation.
    pub const INDETERMINATE_COLLATION: SqlState = SqlState(*b"42P22");
    /// 42809 wrong_object_type.
    pub const WRONG_OBJECT_TYPE: SqlState = SqlState(*b"42809");
    /// 428C9 generated_always.
    pub const GENERATED_ALWAYS: SqlState = SqlState(*b"428C9");
    /// 42703 undefined_column.
    pub const UNDEFINED_COLUMN: SqlState = SqlState(*b"42703");
    /// 42883 undefined_function.
    pub const UNDEFINED_FUNCTION: SqlState = SqlState(*b"42883");
    /// 42P01 undefined_table.
    pub const UNDEFINED_TABLE: SqlState = SqlState(*b"42P01");
    /// 42P02 undefined_parameter.
    pub const UNDEFINED_PARAMETER: SqlState = SqlState(*b"42P02");
    /// 42704 undefined_object.
    pub const UNDEFINED_OBJECT: SqlState = SqlState(*b"42704");
    /// 42701 duplicate_column.
    pub const DUPLICATE_COLUMN: SqlState = SqlState(*b"42701");
    /// 42P03 duplicate_cursor.
    pub const DUPLICATE_CURSOR: SqlState = SqlState(*b"42P03");
    /// 42P04 duplicate_database.
    pub const DUPLICATE_DATABASE: SqlState = SqlState(*b"42P04");
    /// 42723 duplicate_function.
    pub const DUPLICATE_FUNCTION: SqlState = SqlState(*b"42723");
    /// 42P05 duplicate_prepared_statement.
    pub const DUPLICATE_PREPARED_STATEMENT: SqlState = SqlState(*b"42P05");
    /// 42P06 duplicate_schema.
    pub const DUPLICATE_SCHEMA: SqlState = SqlState(*b"42P06");
    /// 42P07 duplicate_table.
    pub const DUPLICATE_TABLE: SqlState = SqlState(*b"42P07");
    /// 42712 duplicate_alias.
    pub const DUPLICATE_ALIAS: SqlState = SqlState(*b"42712");
    /// 42710 duplicate_object.
    pub const DUPLICATE_OBJECT: SqlState = SqlState(*b"42710");
    /// 42702 ambiguous_column.
    pub const AMBIGUOUS_COLUMN: SqlState = SqlState(*b"42702");
    /// 42725 ambiguous_function.
    pub const AMBIGUOUS_FUNCTION: SqlState = SqlState(*b"42725");
    /// 42P08 ambiguous_parameter.
    pub const AMBIGUOUS_PARAMETER: SqlState = SqlState(*b"42P08");
    /// 42P09 ambiguous_alias.
    pub const AMBIGUOUS_ALIAS: SqlState = SqlState(*b"42P09");
    /// 42P10 invalid_column_reference.
    pub const INVALID_COLUMN_REFERENCE: SqlState = SqlState(*b"42P10");
    /// 42611 invalid_column_definition.
    pub const INVALID_COLUMN_DEFINITION: SqlState = SqlState(*b"42611");
    /// 42P11 invalid_cursor_definition.
    pub const INVALID_CURSOR_DEFINITION: SqlState = SqlState(*b"42P11");
    /// 42P12 invalid_database_definition.
    pub const INVALID_DATABASE_DEFINITION: SqlState = SqlState(*b"42P12");
    /// 42P13 invalid_function_definition.
    pub const INVALID_FUNCTION_DEFINITION: SqlState = SqlState(*b"42P13");
    /// 42P14 invalid_prepared_statement_definition.
    pub const INVALID_PREPARED_STATEMENT_DEFINITION: SqlState = SqlState(*b"42P14");
    /// 42P15 invalid_schema_definition.
    pub const INVALID_SCHEMA_DEFINITION: SqlState = SqlState(*b"42P15");
    /// 42P16 invalid_table_definition.
    pub const INVALID_TABLE_DEFINITION: SqlState = SqlState(*b"42P16");
    /// 42P17 invalid_object_definition.
    pub const INVALID_OBJECT_DEFINITION: SqlState = SqlState(*b"42P17");
    /// 44000 with_check_option_violation.
    pub const WITH_CHECK_OPTION_VIOLATION: SqlState = SqlState(*b"44000");
    /// 53000 insufficient_resources.
    pub const INSUFFICIENT_RESOURCES: SqlState = SqlState(*b"53000");
    /// 53100 disk_full.
    pub const DISK_FULL: SqlState = SqlState(*b"53100");
    /// 53200 out_of_memory.
    pub const OUT_OF_MEMORY: SqlState = SqlState(*b"53200");
    /// 53300 too_many_connections.
    pub const TOO_MANY_CONNECTIONS: SqlState = SqlState(*b"53300");
    /// 53400 configuration_limit_exceeded.
    pub const CONFIGURATION_LIMIT_EXCEEDED: SqlState = SqlState(*b"53400");
    /// 54000 program_limit_exceeded.
    pub const PROGRAM_LIMIT_EXCEEDED: SqlState = SqlState(*b"54000");
    /// 54001 statement_too_complex.
    pub const STATEMENT_TOO_COMPLEX: SqlState = SqlState(*b"54001");
    /// 54011 too_many_columns.
    pub const TOO_MANY_COLUMNS: SqlState = SqlState(*b"54011");
    /// 54023 too_many_arguments.
    pub const TOO_MANY_ARGUMENTS: SqlState = SqlState(*b"54023");
    /// 55000 object_not_in_prerequisite_state.
    pub const OBJECT_NOT_IN_PREREQUISITE_STATE: SqlState = SqlState(*b"55000");
    /// 55006 object_in_use.
    pub const OBJECT_IN_USE: SqlState = SqlState(*b"55006");
    /// 55P02 cant_change_runtime_param.
    pub const CANT_CHANGE_RUNTIME_PARAM: SqlState = SqlState(*b"55P02");
    /// 55P03 lock_not_available.
    pub const LOCK_NOT_AVAILABLE: SqlState = SqlState(*b"55P03");
    /// 55P04 unsafe_new_enum_value_usage.
    pub const UNSAFE_NEW_ENUM_VALUE_USAGE: SqlState = SqlState(*b"55P04");
    /// 57000 operator_intervention.
    pub const OPERATOR_INTERVENTION: SqlState = SqlState(*b"57000");
    /// 57014 query_canceled.
    pub const QUERY_CANCELED: SqlState = SqlState(*b"57014");
    /// 57P01 admin_shutdown.
    pub const ADMIN_SHUTDOWN: SqlState = SqlState(*b"57P01");
    /// 57P02 crash_shutdown.
    pub const CRASH_SHUTDOWN: SqlState = SqlState(*b"57P02");
    /// 57P03 cannot_connect_now.
    pub const CANNOT_CONNECT_NOW: SqlState = SqlState(*b"57P03");
    /// 57P04 database_dropped.
    pub const DATABASE_DROPPED: SqlState = SqlState(*b"57P04");
    /// 57P05 idle_session_timeout.
    pub const IDLE_SESSION_TIMEOUT: SqlState = SqlState(*b"57P05");
    /// 58000 system_error.
    pub const SYSTEM_ERROR: SqlState = SqlState(*b"58000");
    /// 58030 io_error.
    pub const IO_ERROR: SqlState = SqlState(*b"58030");
    /// 58P01 undefined_file.
    pub const UNDEFINED_FILE: SqlState = SqlState(*b"58P01");
    /// 58P02 duplicate_file.
    pub const DUPLICATE_FILE: SqlState = SqlState(*b"58P02");
    /// 72000 snapshot_too_old.
    pub const SNAPSHOT_TOO_OLD: SqlState = SqlState(*b"72000");
    /// F0000 config_file_error.
    pub const CONFIG_FILE_ERROR: SqlState = SqlState(*b"F0000");
    /// F0001 lock_file_exists.
    pub const LOCK_FILE_EXISTS: SqlState = SqlState(*b"F0001");
    /// HV000 fdw_error.
    pub const FDW_ERROR: SqlState = SqlState(*b"HV000");
    /// HV005 fdw_column_name_not_found.
    pub const FDW_COLUMN_NAME_NOT_FOUND: SqlState = SqlState(*b"HV005");
    /// HV002 fdw_dynamic_parameter_value_needed.
    pub const FDW_DYNAMIC_PARAMETER_VALUE_NEEDED: SqlState = SqlState(*b"HV002");
    /// HV010 fdw_function_sequence_error.
    pub const FDW_FUNCTION_SEQUENCE_ERROR: SqlState = SqlState(*b"HV010");
    /// HV021 fdw_inconsistent_descriptor_information.
    pub const FDW_INCONSISTENT_DESCRIPTOR_INFORMATION: SqlState = SqlState(*b"HV021");
    /// HV024 fdw_invalid_attribute_value.
    pub const FDW_INVALID_ATTRIBUTE_VALUE: SqlState = SqlState(*b"HV024");
    /// HV007 fdw_invalid_column_name.
    pub const FDW_INVALID_COLUMN_NAME: SqlState = SqlState(*b"HV007");
    /// HV008 fdw_invalid_column_number.
    pub const FDW_INVALID_COLUMN_NUMBER: SqlState = SqlState(*b"HV008");
    /// HV004 fdw_invalid_data_type.
    pub const FDW_INVALID_DATA_TYPE: SqlState = SqlState(*b"HV004");
    /// HV006 fdw_invalid_data_type_descriptors.
    pub const FDW_INVALID_DATA_TYPE_DESCRIPTORS: SqlState = SqlState(*b"HV006");
    /// HV091 fdw_invalid_descriptor_field_identifier.
    pub const FDW_INVALID_DESCRIPTOR_FIELD_IDENTIFIER: SqlState = SqlState(*b"HV091");
    /// HV00B fdw_invalid_handle.
    pub const FDW_INVALID_HANDLE: SqlState = SqlState(*b"HV00B");
    /// HV00C fdw_invalid_option_index.
    pub const FDW_INVALID_OPTION_INDEX: SqlState = SqlState(*b"HV00C");
    /// HV00D fdw_invalid_option_name.
    pub const FDW_INVALID_OPTION_NAME: SqlState = SqlState(*b"HV00D");
    /// HV090 fdw_invalid_string_length_or_buffer_length.
    pub const FDW_INVALID_STRING_LENGTH_OR_BUFFER_LENGTH: SqlState = SqlState(*b"HV090");
    /// HV00A fdw_invalid_string_format.
    pub const FDW_INVALID_STRING_FORMAT: SqlState = SqlState(*b"HV00A");
    /// HV009 fdw_invalid_use_of_null_pointer.
    pub const FDW_INVALID_USE_OF_NULL_POINTER: SqlState = SqlState(*b"HV009");
    /// HV014 fdw_too_many_handles.
    pub const FDW_TOO_MANY_HANDLES: SqlState = SqlState(*b"HV014");
    /// HV001 fdw_out_of_memory.
    pub const FDW_OUT_OF_MEMORY: SqlState = SqlState(*b"HV001");
    /// HV00P fdw_no_schemas.
    pub const FDW_NO_SCHEMAS: SqlState = SqlState(*b"HV00P");
    /// HV00J fdw_option_name_not_found.
    pub const FDW_OPTION_NAME_NOT_FOUND: SqlState = SqlState(*b"HV00J");
    /// HV00K fdw_reply_handle.
    pub const FDW_REPLY_HANDLE: SqlState = SqlState(*b"HV00K");
    /// HV00Q fdw_schema_not_found.
    pub const FDW_SCHEMA_NOT_FOUND: SqlState = SqlState(*b"HV00Q");
    /// HV00R fdw_table_not_found.
    pub const FDW_TABLE_NOT_FOUND: SqlState = SqlState(*b"HV00R");
    /// HV00L fdw_unable_to_create_execution.
    pub const FDW_UNABLE_TO_CREATE_EXECUTION: SqlState = SqlState(*b"HV00L");
    /// HV00M fdw_unable_to_create_reply.
    pub const FDW_UNABLE_TO_CREATE_REPLY: SqlState = SqlState(*b"HV00M");
    /// HV00N fdw_unable_to_establish_connection.
    pub const FDW_UNABLE_TO_ESTABLISH_CONNECTION: SqlState = SqlState(*b"HV00N");
    /// P0000 plpgsql_error.
    pub const PLPGSQL_ERROR: SqlState = SqlState(*b"P0000");
    /// P0001 raise_exception.
    pub const RAISE_EXCEPTION: SqlState = SqlState(*b"P0001");
    /// P0002 no_data_found.
    pub const NO_DATA_FOUND: SqlState = SqlState(*b"P0002");
    /// P0003 too_many_rows.
    pub const TOO_MANY_ROWS: SqlState = SqlState(*b"P0003");
    /// P0004 assert_failure.
    pub const ASSERT_FAILURE: SqlState = SqlState(*b"P0004");
    /// XX000 internal_error.
    pub const INTERNAL_ERROR: SqlState = SqlState(*b"XX000");
    /// XX001 data_corrupted.
    pub const DATA_CORRUPTED: SqlState = SqlState(*b"XX001");
    /// XX002 index_corrupted.
    pub const INDEX_CORRUPTED: SqlState = SqlState(*b"XX002");
}
